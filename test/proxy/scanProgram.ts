/** A program with a selective scan of its own, as people write it: small, and the same every time. */
export const SCAN_PROGRAM = `import torch
from torch import nn

def selective_scan(u, delta, A, B, C, D):
    h = torch.zeros(u.shape[0], u.shape[1], A.shape[1])
    ys = []
    for t in range(u.shape[2]):
        h = torch.exp(delta[:, :, t, None] * A) * h + delta[:, :, t, None] * B[:, None, :, t] * u[:, :, t, None]
        ys.append((h * C[:, None, :, t]).sum(-1))
    return torch.stack(ys, 2) + u * D[:, None]  # last

class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.A_log = nn.Parameter(torch.rand(4, 2))
        self.D = nn.Parameter(torch.ones(4))

    def forward(self, x):
        delta = torch.nn.functional.softplus(x)
        B = x[:, :2]
        y = selective_scan(x, delta, -torch.exp(self.A_log), B, B, self.D)  # call
        return y * 2  # after

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Mixer(), Mixer()])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

torch.manual_seed(0)
model = Model()
out = model(torch.rand(1, 4, 5))
print("sum", round(out.sum().item(), 3))  # print
`;
