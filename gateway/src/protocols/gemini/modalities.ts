import { arrayOf, countOf, objectOf, textOf } from "../json/value.ts";

/** Tokens by modality. Video and documents count as text. */
interface Modalities {
  readonly audio: number;
  readonly image: number;
}

/** Reads a list such as `[{"modality":"AUDIO","tokenCount":7}]`; `countName` is the member with the count. */
export function modalitiesIn(reported: unknown, countName: string): Modalities {
  let audio = 0;
  let image = 0;
  for (const entry of arrayOf(reported).map(objectOf)) {
    const modality = textOf(entry["modality"])?.toLowerCase();
    if (modality === "audio") audio += countOf(entry[countName]) ?? 0;
    if (modality === "image") image += countOf(entry[countName]) ?? 0;
  }
  return { audio, image };
}

/** Splits input tokens into classes. `input` includes `cached`, in both arguments; `toolUse` comes on top. */
export function splitInput(
  { input, cached, toolUse }: { readonly input: number; readonly cached: number; readonly toolUse: number },
  by: { readonly input: Modalities; readonly cached: Modalities; readonly toolUse: Modalities },
) {
  const fromCache = Math.min(cached, input);
  const fresh = input - fromCache;
  const cacheReadAudio = Math.min(by.cached.audio, fromCache);
  const uncached = splitTokens(fresh, {
    audio: Math.max(0, by.input.audio - by.cached.audio),
    image: Math.max(0, by.input.image - by.cached.image),
  });
  const tool = splitTokens(toolUse, by.toolUse);
  return {
    inputUncached: uncached.text + tool.text,
    cacheRead: fromCache - cacheReadAudio,
    cacheReadAudio,
    audioInput: uncached.audio + tool.audio,
    imageInput: uncached.image + tool.image,
  };
}

/** Splits tokens by modality, within their total. */
export function splitTokens(tokens: number, by: Modalities) {
  const audio = Math.min(by.audio, tokens);
  const image = Math.min(by.image, tokens - audio);
  return { text: tokens - audio - image, audio, image };
}
