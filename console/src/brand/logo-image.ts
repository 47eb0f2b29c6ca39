import { logoTextMax } from "@sluice/contract";

/** Files that can be chosen as a logo. */
export const logoTypes = "image/png,image/jpeg,image/webp,image/svg+xml";

/** Heights to try, so that the image gets small enough. */
const heights = [160, 112, 80, 56, 40] as const;
const widthRatioMax = 6;
const fileBytesMax = 5 * 1024 * 1024;

/**
 * Draws an image file and returns it as PNG in a data URL; null: the browser cannot read it, or it does not get small enough. Scripts
 * in an SVG image neither run nor stay in the result.
 */
export async function logoFrom(file: Blob): Promise<string | null> {
  if (file.size > fileBytesMax) return null;
  const url = URL.createObjectURL(file);
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const { naturalWidth: width, naturalHeight: height } = image;
    if (width === 0 || height === 0 || width > height * widthRatioMax) return null;
    for (const side of heights) {
      const text = drawn(image, { width: Math.max(1, Math.round((width / height) * side)), height: side });
      if (text.length <= logoTextMax) return text;
    }
    return null;
  } catch {
    return null;
  } finally {
    URL.revokeObjectURL(url);
  }
}

function drawn(
  image: HTMLImageElement,
  { width, height }: { readonly width: number; readonly height: number },
): string {
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  canvas.getContext("2d")?.drawImage(image, 0, 0, width, height);
  return canvas.toDataURL("image/png");
}
