"""The outside world, read into typed records. Ground floor: imports nothing else of nlihub."""
