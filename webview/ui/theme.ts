import { useEffect, useState } from 'preact/hooks';
import { parseColor, type Rgb } from './color';

/** The theme's colours that pictures are drawn with; canvas can't read CSS variables. */
export interface ThemeColors {
  /** What a picture is drawn on. */
  ground: Rgb;
  foreground: Rgb;
  /** Negative values, and the one colour of scales without a sign. */
  low: Rgb;
  /** Positive values on a signed scale. */
  high: Rgb;
  nan: Rgb;
  inf: Rgb;
}

const GREY: Rgb = { r: 128, g: 128, b: 128 };

/** Reads the theme from the page's CSS variables. The four hues are apart for the colour-blind in every base theme. */
export function readTheme(): ThemeColors {
  const style = getComputedStyle(document.documentElement);
  const read = (names: string[], ground?: Rgb): Rgb => {
    for (const name of names) {
      const color = parseColor(style.getPropertyValue(`--vscode-${name}`), ground);
      if (color) return color;
    }
    return GREY;
  };
  const ground = read(['editor-background', 'sideBar-background']);
  return {
    ground,
    foreground: read(['editor-foreground', 'foreground'], ground),
    low: read(['charts-blue'], ground),
    high: read(['charts-yellow'], ground),
    nan: read(['charts-red', 'editorError-foreground', 'errorForeground'], ground),
    inf: read(['charts-purple'], ground),
  };
}

/** The current theme's colours; renders again when the person switches themes. */
export function useTheme(): ThemeColors {
  const [colors, setColors] = useState(readTheme);
  useEffect(() => {
    const observer = new MutationObserver(() => setColors(readTheme()));
    observer.observe(document.documentElement, { attributes: true, attributeFilter: ['style', 'class'] });
    observer.observe(document.body, { attributes: true, attributeFilter: ['class'] });
    return () => observer.disconnect();
  }, []);
  return colors;
}
