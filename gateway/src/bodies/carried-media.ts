/** Media that replace their address. Their bytes are sent separately with the order. */
export interface CarriedMedia {
  readonly url: string;
  readonly mediaType: string;
}

/** The media of a job by their URLs. */
export function carriedMedia(
  media: readonly CarriedMedia[],
  beside: readonly Uint8Array[],
): ReadonlyMap<string, { readonly mediaType: string; readonly data: string }> {
  return new Map(
    media.map(({ url, mediaType }, index) => {
      const bytes = beside[index] ?? new Uint8Array(0);
      return [url, { mediaType, data: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64") }];
    }),
  );
}
