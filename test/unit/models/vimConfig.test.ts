import { describe, expect, it } from 'vitest';
import { parseVimName, vimConfig } from '../../../runtime/models/vimConfig';

/** The published names, with the arguments that the original gives its constructor. */
const PUBLISHED: [string, Record<string, unknown>][] = [
  [
    'vim_tiny_patch16_224_bimambav2_final_pool_mean_abs_pos_embed_with_midclstok_div2',
    { embed_dim: 192, stride: 16 },
  ],
  [
    'vim_tiny_patch16_stride8_224_bimambav2_final_pool_mean_abs_pos_embed_with_midclstok_div2',
    { embed_dim: 192, stride: 8 },
  ],
  [
    'vim_small_patch16_224_bimambav2_final_pool_mean_abs_pos_embed_with_midclstok_div2',
    { embed_dim: 384, stride: 16 },
  ],
  [
    'vim_small_patch16_stride8_224_bimambav2_final_pool_mean_abs_pos_embed_with_midclstok_div2',
    { embed_dim: 384, stride: 8 },
  ],
  [
    'vim_base_patch16_224_bimambav2_final_pool_mean_abs_pos_embed_with_middle_cls_token_div2',
    { embed_dim: 768, stride: 16 },
  ],
];

describe('published names', () => {
  it.each(PUBLISHED)('%s', (name, changes) => {
    const original = {
      patch_size: 16,
      depth: 24,
      rms_norm: true,
      residual_in_fp32: true,
      fused_add_norm: true,
      final_pool_type: 'mean',
      if_abs_pos_embed: true,
      if_rope: false,
      if_rope_residual: false,
      bimamba_type: 'v2',
      if_cls_token: true,
      if_divide_out: true,
      use_middle_cls_token: true,
      ...changes,
    };
    expect(vimConfig(parseVimName(name))).toEqual(vimConfig(original));
  });

  it('with rope and a class token at the head', () => {
    const name =
      'vim_tiny_patch16_224_bimambav2_final_pool_mean_abs_pos_embed_rope_also_residual_with_cls_token';
    expect(vimConfig(parseVimName(name))).toMatchObject({
      rope: true,
      ropeResidual: true,
      clsToken: 'head',
      absPosEmbed: true,
      finalPoolType: 'mean',
      mixer: { bimambaType: 'v2', divideOut: false },
    });
  });

  it.each([
    ['resnet50', /neither a file nor a published model name/],
    ['vim_huge_patch16_224', /neither a file nor a published/],
    ['vim_tiny_patch16_224_bimambav3', /"bimambav3".*did you mean "bimambav2"\?.*Known parts:/],
    ['vim_tiny_patch16_224_bimambav2_final_pol_mean', /"final_pol_mean"/],
  ])('%s is refused', (name, message) => expect(() => vimConfig(parseVimName(name))).toThrow(message));
});

describe('constructor arguments', () => {
  it('have the original defaults', () => {
    expect(vimConfig({})).toMatchObject({
      imgSize: 224,
      patchSize: 16,
      stride: 16,
      depth: 24,
      embedDim: 192,
      channels: 3,
      numClasses: 1000,
      rmsNorm: true,
      normEpsilon: 1e-5,
      clsToken: 'middle',
      absPosEmbed: true,
      rope: false,
      finalPoolType: 'none',
      bidirectional: false,
      mixer: {
        dModel: 192,
        dInner: 384,
        dState: 16,
        dConv: 4,
        dtRank: 12,
        bias: false,
        convBias: true,
        bimambaType: 'v2',
        divideOut: true,
      },
    });
  });

  it('reach the mixer through ssm_cfg', () => {
    const config = vimConfig({
      embed_dim: 64,
      ssm_cfg: { d_state: 8, d_conv: 3, expand: 1, dt_rank: 5, bias: true },
    });
    expect(config.mixer).toMatchObject({ dState: 8, dConv: 3, dInner: 64, dtRank: 5, bias: true });
    expect(vimConfig({ embed_dim: 100, ssm_cfg: { dt_rank: 'auto' } }).mixer.dtRank).toBe(7);
  });

  it('if_bimamba means v1', () =>
    expect(vimConfig({ if_bimamba: true, bimamba_type: 'none' }).mixer.bimambaType).toBe('v1'));

  it.each([
    [
      { if_devide_out: true },
      /no argument "if_devide_out"; did you mean "if_divide_out"\? Known arguments: bimamba_type, channels/,
    ],
    [{ ssm_cfg: { d_sate: 8 } }, /ssm_cfg has no argument "d_sate"; did you mean "d_state"/],
    [{ d_conv: 3 }, /no argument "d_conv"/],
    [{ depth: 0 }, /depth is 0; it takes a whole number from 1/],
    [{ embed_dim: '192' }, /embed_dim is "192"/],
    [{ bimamba_type: 'v3' }, /bimamba_type is "v3"; it takes "none", "v1", "v2"/],
    [{ rms_norm: 1 }, /rms_norm is 1; it takes true or false/],
    [{ img_size: 8 }, /patch_size 16 is larger than img_size 8/],
    [{ flip_img_sequences_ratio: 0.5 }, /flips at random/],
    [{ if_rope: true, embed_dim: 30 }, /that 4 divides/],
  ])('%j is refused', (args, message) => expect(() => vimConfig(args)).toThrow(message));
});
