import { formatBytes } from "../../client/format.ts";
import { t } from "../../language/areas/media.ts";

/** Image types that models support. */
export const pictureTypes = ["image/png", "image/jpeg", "image/webp", "image/gif"] as const;
const pictureBytesMax = 8_000_000;

/** Why a file cannot be sent as a picture; null if it can. */
export function pictureProblem(file: Pick<File, "name" | "type" | "size">): string | null {
  const name = file.name === "" ? t("media.files.image") : file.name;
  if (!pictureTypes.some((type) => type === file.type)) return t("media.files.notImage", { name });
  if (file.size === 0) return t("media.files.empty", { name });
  if (file.size > pictureBytesMax) {
    return t("media.files.tooLarge", {
      name,
      size: formatBytes(file.size),
      most: formatBytes(pictureBytesMax),
    });
  }
  return null;
}

/** Why a text cannot be sent as the URL of a picture; null if it can. */
export function addressProblem(text: string): string | null {
  if (!URL.canParse(text)) return t("media.url.invalid");
  const { protocol, username } = new URL(text);
  if (protocol !== "https:" && protocol !== "http:") return t("media.url.scheme");
  return username === "" ? null : t("media.url.credentials");
}

export function readAsDataUrl(file: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error ?? new Error("The file could not be read."));
    reader.readAsDataURL(file);
  });
}

/** The size of a base64 data: URL in bytes. */
export function bytesOfDataUrl(url: string): number {
  const base64 = url.slice(url.indexOf(",") + 1);
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return Math.max(0, (base64.length * 3) / 4 - padding);
}

/** The base64 form of the first bytes of each format. */
const beginnings: readonly (readonly [begins: string, type: string])[] = [
  ["iVBOR", "image/png"],
  ["/9j/", "image/jpeg"],
  ["UklGR", "image/webp"],
  ["R0lGO", "image/gif"],
];

/** Images may be bare base64; the first bytes determine their type. */
export function pictureUrl(base64: string): string {
  const type = beginnings.find(([begins]) => base64.startsWith(begins))?.[1] ?? "image/png";
  return `data:${type};base64,${base64}`;
}

export function extensionOf(dataUrl: string): string {
  const type = /^data:image\/([a-z]+)/.exec(dataUrl)?.[1] ?? "png";
  return type === "jpeg" ? "jpg" : type;
}
