"""Settings for all tests of this folder."""

import torch

# The models here are tiny: more threads only wait for each other, badly so on a busy machine.
torch.set_num_threads(1)
