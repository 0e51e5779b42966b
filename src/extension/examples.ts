/** The examples that ship with the extension. No vscode. */
import type { EmbeddedLaunch } from '../protocol/launch';

/** A launch configuration as this extension makes them. */
export interface MambaConfiguration extends EmbeddedLaunch {
  type: 'mamba';
  request: 'launch';
  name: string;
}

export const VIM_TINY = 'vim_tiny_patch16_224_bimambav2_final_pool_mean_abs_pos_embed_with_midclstok_div2';

/** The names under which the Vim models were published. */
export const PUBLISHED_NAMES: readonly { name: string; about: string }[] = [
  { name: VIM_TINY, about: 'Vim-tiny: 24 layers of 192 channels, 197 tokens' },
  {
    name: 'vim_tiny_patch16_stride8_224_bimambav2_final_pool_mean_abs_pos_embed_with_midclstok_div2',
    about: 'Vim-tiny with overlapping patches: 730 tokens',
  },
  {
    name: 'vim_small_patch16_224_bimambav2_final_pool_mean_abs_pos_embed_with_midclstok_div2',
    about: 'Vim-small: 24 layers of 384 channels, 197 tokens',
  },
  {
    name: 'vim_small_patch16_stride8_224_bimambav2_final_pool_mean_abs_pos_embed_with_midclstok_div2',
    about: 'Vim-small with overlapping patches: 730 tokens',
  },
  {
    name: 'vim_base_patch16_224_bimambav2_final_pool_mean_abs_pos_embed_with_middle_cls_token_div2',
    about: 'Vim-base: 24 layers of 768 channels, 197 tokens',
  },
];

/** A trained Vim of a few layers reads a digit; stops at every selective scan. `root` is the examples folder. */
export function digitsExample(root: string): MambaConfiguration {
  return {
    type: 'mamba',
    request: 'launch',
    name: 'Digits example',
    model: `${root}/vim_digits.json`,
    checkpoint: `${root}/vim_digits.safetensors`,
    input: `${root}/digits/digit_7.png`,
    label: 7,
    breakpoints: [{ name: 'selective_scan' }],
  };
}

/** Vim-tiny at its published size looks at a photograph; its weights are made from a seed. */
export function photographExample(root: string): MambaConfiguration {
  return {
    type: 'mamba',
    request: 'launch',
    name: 'Vim-tiny on a photograph',
    model: VIM_TINY,
    seed: 0,
    input: `${root}/photo.jpg`,
    breakpoints: [{ name: 'selective_scan' }],
  };
}
