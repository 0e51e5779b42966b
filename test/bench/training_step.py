"""Times steps of a small training, and writes the median in seconds and the last loss to a file."""

import json
import statistics
import sys
import time

sys.path.insert(0, "examples")
import torch
import torch.nn.functional as F
from vim_pytorch import VisionMamba

STEPS, SKIPPED = 13, 2

torch.set_num_threads(1)
torch.manual_seed(0)
model = VisionMamba(
    img_size=224, patch_size=16, stride=16, depth=2, embed_dim=192, num_classes=10,
    bimamba_type="v2", final_pool_type="mean",
)  # fmt: skip
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
image, label = torch.randn(1, 3, 224, 224), torch.tensor([1])
times = []
for _ in range(STEPS):
    start = time.perf_counter()
    loss = F.cross_entropy(model(image), label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    times.append(time.perf_counter() - start)
with open(sys.argv[1], "w", encoding="utf-8") as file:
    json.dump({"seconds": statistics.median(times[SKIPPED:]), "loss": loss.item()}, file)
