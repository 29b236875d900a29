import pickle

import pytest
from pydantic import BaseModel, ConfigDict, ValidationError

from distanon.errors import SpecError
from distanon.spec.seed import Seed, SeedChoice

SECRET = 918_273_645_546_372


class Holder(BaseModel):
    model_config = ConfigDict(hide_input_in_errors=True)

    seed: SeedChoice = Seed()


def test_no_seed_means_128_bits_of_the_system_anew_each_time():
    seeds = {Holder(seed=None).seed.resolve() for _ in range(8)}
    assert len(seeds) == 8
    assert all(0 <= seed < 2**128 for seed in seeds)
    assert max(seeds) > 2**100


def test_a_number_is_the_seed():
    assert Holder(seed=SECRET).seed.resolve() == SECRET
    assert Holder(seed=0).seed.resolve() == 0


def test_a_seed_comes_from_the_environment(monkeypatch):
    seed = Holder(seed="env:SEED").seed
    monkeypatch.delenv("SEED", raising=False)
    with pytest.raises(SpecError, match="the environment has no SEED"):
        seed.resolve()
    monkeypatch.setenv("SEED", f" {SECRET}\n")
    assert seed.resolve() == SECRET


def test_a_seed_comes_from_a_file(tmp_path):
    file = tmp_path / "seed"
    seed = Holder(seed=f"file:{file}").seed
    with pytest.raises(SpecError, match="can't be read: FileNotFoundError"):
        seed.resolve()
    file.write_text(f"{SECRET}\n")
    assert seed.resolve() == SECRET
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(SpecError, match="can't be read"):
        seed.resolve()


@pytest.mark.parametrize("content", [f"x{SECRET}", f"-{SECRET}", "", f"{SECRET}.5"])
def test_a_source_without_a_whole_number_is_refused_without_its_content(monkeypatch, content):
    monkeypatch.setenv("SEED", content)
    with pytest.raises(SpecError, match="holds no whole number") as caught:
        Holder(seed="env:SEED").seed.resolve()
    assert str(SECRET) not in str(caught.value)


@pytest.mark.parametrize("value", [-SECRET, f"{SECRET}", SECRET + 0.5, True, "env:", [SECRET]])
def test_a_wrong_seed_is_refused_and_not_shown(value):
    with pytest.raises(ValidationError) as caught:
        Holder(seed=value)
    assert str(SECRET) not in str(caught.value)
    assert str(SECRET) not in caught.value.errors()[0]["msg"]


def test_a_seed_is_in_no_text_and_no_dump():
    holder = Holder(seed=SECRET)
    texts = [repr(holder), str(holder.seed), repr(holder.seed), holder.model_dump_json()]
    texts += [str(holder.model_dump()), f"{holder.seed}", f"{[holder.seed]}"]
    assert not any(str(SECRET) in text for text in texts)
    assert holder.model_dump() == {"seed": "integer"}


def test_a_dump_for_the_private_spec_holds_the_seed():
    assert Holder(seed=SECRET).model_dump(context={"with_seed": True}) == {"seed": SECRET}
    assert Holder(seed=None).model_dump(context={"with_seed": True}) == {"seed": None}
    assert Holder(seed="env:SEED").model_dump() == {"seed": "env:SEED"}


def test_a_seed_travels_to_workers():
    assert pickle.loads(pickle.dumps(Seed("integer", SECRET))) == Seed("integer", SECRET)
