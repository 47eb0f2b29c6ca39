import type { MediaSource } from "#core/index.ts";

/** The media in a `data:` URI; null for other texts. Source: RFC 2397. */
export function readDataUri(uri: string): (MediaSource & { readonly kind: "base64" }) | null {
  if (!/^data:/i.test(uri.slice(0, 5))) return null;
  const comma = uri.indexOf(",");
  if (comma === -1) return null;
  const [mediaType = "", ...parameters] = uri.slice(5, comma).split(";");
  const rest = uri.slice(comma + 1);
  const encoded = parameters.some((parameter) => parameter.trim().toLowerCase() === "base64");
  const data = encoded ? rest : plainAsBase64(rest);
  return data === null ? null : { kind: "base64", mediaType: mediaType.trim().toLowerCase() || "text/plain", data };
}

export function dataUri(mediaType: string, data: string): string {
  return `data:${mediaType};base64,${data}`;
}

/** Null if an escape is invalid. */
function plainAsBase64(payload: string): string | null {
  try {
    return Buffer.from(decodeURIComponent(payload), "utf8").toString("base64");
  } catch {
    return null;
  }
}
