"""`python -m distanon`, as the command `distanon`."""

from distanon.cli import main

if __name__ == "__main__":
    main()
