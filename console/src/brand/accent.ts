/** Red, green and blue from 0 to 1. */
type Rgb = readonly [number, number, number];

interface Hsl {
  readonly hue: number;
  readonly saturation: number;
  readonly lightness: number;
}

/** WCAG AA for small text, and a little more for rounded values. */
const contrastMin = 4.6;

/** The lightest and darkest grounds of the two schemes, see styles/colors.css. */
const grounds = { light: ["#ffffff", "#eef2f4"], dark: ["#0d1316", "#28343a"] } as const;

/**
 * Style rules that replace cyan with the accent color. Where white text on the color, or the color on a background, would be hard to
 * read, a darker shade is used, or a lighter one in the dark scheme.
 */
export function accentRules(color: string): string {
  const { light, dark, shades } = accentColors(color);
  const palette = shades.map((shade, at) => `--mantine-color-cyan-${at}:${shade}`);
  return [
    rule(":root", palette),
    rule(':root[data-mantine-color-scheme="light"]', variables(light)),
    rule(':root[data-mantine-color-scheme="dark"]', variables(dark)),
  ].join("\n");
}

/** Colors of one scheme, all as `#rrggbb`. */
interface Scheme {
  /** A button's ground, below white text. */
  readonly filled: string;
  readonly hover: string;
  /** The ground of chosen items and quiet buttons, and the text on it. */
  readonly soft: string;
  readonly softHover: string;
  readonly softText: string;
  /** Links. */
  readonly link: string;
}

export function accentColors(color: string): { light: Scheme; dark: Scheme; shades: readonly string[] } {
  const hsl = hslOf(rgbOf(color));
  const at = (lightness: number, saturation = hsl.saturation) => hexOf(rgbFrom({ ...hsl, saturation, lightness }));
  const soft = at(0.95, Math.min(hsl.saturation, 0.8));
  const softHover = at(0.91, Math.min(hsl.saturation, 0.7));
  const strong = darkened(hsl, [...grounds.light, soft, softHover]);
  const darkSoft = at(0.15, Math.min(hsl.saturation, 0.45));
  const darkSoftHover = at(0.2, Math.min(hsl.saturation, 0.45));
  const bright = lightened(hsl, [...grounds.dark, darkSoft, darkSoftHover]);
  const filled = at(strong);
  const hover = at(strong * 0.84);
  // From the soft ground over the bright to the strong color, like Mantine's palettes.
  const steps = [0.95, 0.91, 0.85, bright + 0.06, bright, 0.56, 0.5, 0.44, 0.39].map((lightness) =>
    Math.min(lightness, 0.97),
  );
  return {
    light: { filled, hover, soft, softHover, softText: filled, link: filled },
    dark: { filled, hover, soft: darkSoft, softHover: darkSoftHover, softText: at(bright), link: at(bright) },
    shades: [...steps.map((lightness) => at(lightness)), filled],
  };
}

function variables({ filled, hover, soft, softHover, softText, link }: Scheme): string[] {
  const names = ["--mantine-color-cyan", "--mantine-primary-color"];
  return [
    ...names.flatMap((name) => [
      `${name}-filled:${filled}`,
      `${name}-filled-hover:${hover}`,
      `${name}-light:${soft}`,
      `${name}-light-hover:${softHover}`,
      `${name}-light-color:${softText}`,
    ]),
    ...[`--mantine-color-anchor:${link}`, `--chosen:${softHover}`, `--chosen-text:${softText}`, `--asked:${soft}`],
  ];
}

function rule(selector: string, lines: readonly string[]): string {
  return `${selector}{${lines.join(";")}}`;
}

/** The highest lightness, at most the color's own, that can be read on all grounds, which are light. */
function darkened(hsl: Hsl, onto: readonly string[]): number {
  for (let lightness = hsl.lightness; lightness > 0; lightness -= 0.005) {
    if (onto.every((ground) => contrast(hexOf(rgbFrom({ ...hsl, lightness })), ground) >= contrastMin))
      return lightness;
  }
  return 0;
}

/** The lowest lightness, at least the color's own, that can be read on all grounds, which are dark. */
function lightened(hsl: Hsl, onto: readonly string[]): number {
  for (let lightness = hsl.lightness; lightness < 1; lightness += 0.005) {
    if (onto.every((ground) => contrast(hexOf(rgbFrom({ ...hsl, lightness })), ground) >= contrastMin))
      return lightness;
  }
  return 1;
}

/** https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio */
export function contrast(one: string, other: string): number {
  const [dark, light] = [luminance(rgbOf(one)), luminance(rgbOf(other))].toSorted((a, b) => a - b) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

function luminance(rgb: Rgb): number {
  const [red, green, blue] = rgb.map((part) => (part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)) as [
    number,
    number,
    number,
  ];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function rgbOf(hex: string): Rgb {
  return [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255) as unknown as Rgb;
}

function hexOf(rgb: Rgb): string {
  return `#${rgb
    .map((part) =>
      Math.round(part * 255)
        .toString(16)
        .padStart(2, "0"),
    )
    .join("")}`;
}

function hslOf([red, green, blue]: Rgb): Hsl {
  const max = Math.max(red, green, blue);
  const min = Math.min(red, green, blue);
  const range = max - min;
  const lightness = (max + min) / 2;
  if (range === 0) return { hue: 0, saturation: 0, lightness };
  const saturation = range / (1 - Math.abs(2 * lightness - 1));
  const sector =
    max === red ? (green - blue) / range + 6 : max === green ? (blue - red) / range + 2 : (red - green) / range + 4;
  return { hue: (sector % 6) * 60, saturation, lightness };
}

/** https://en.wikipedia.org/wiki/HSL_and_HSV#HSL_to_RGB_alternative */
function rgbFrom({ hue, saturation, lightness }: Hsl): Rgb {
  const range = saturation * Math.min(lightness, 1 - lightness);
  const part = (offset: number) => {
    const place = (offset + hue / 30) % 12;
    return lightness - range * Math.max(-1, Math.min(place - 3, 9 - place, 1));
  };
  return [part(0), part(8), part(4)];
}
