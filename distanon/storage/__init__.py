"""Where data is read and releases are written: the only place that knows files and buckets."""
