import { chat, either, type HostileShape, MiB, many, passed, refused, said } from "./hostile-shape.ts";

function playground(what: string, path: string, body: () => string, answers: readonly number[]): HostileShape {
  return { name: `playground: ${what}`, path, playground: true, body, answers };
}

const picture = (bytes: number): string => `"data:image/png;base64,${"A".repeat(bytes)}"`;
const shown = (bytes: number): string => `{"type":"image_url","image_url":{"url":${picture(bytes)}}}`;

/** What comes by way of the console goes the same way from there. */
export const playgroundShapes: readonly HostileShape[] = [
  playground(
    "a chat with a picture of sixty megabytes",
    chat,
    () => `{"model":"openai","messages":[{"role":"user","content":[${shown(60 * MiB)}]}]}`,
    passed,
  ),
  playground(
    "sixty thousand messages to translate",
    chat,
    () => `{"model":"claude","messages":[${many(60_000, said)}]}`,
    either,
  ),
  playground(
    "a video with a picture of thirty megabytes",
    "/v1/video/tasks",
    () => `{"model":"clip","prompt":"p","image":${picture(30 * MiB)}}`,
    passed,
  ),
  playground(
    "a video with more than it may have",
    "/v1/video/tasks",
    () => `{"model":"clip","prompt":"p","image":${picture(33 * MiB)}}`,
    refused,
  ),
  playground(
    "a picture with a picture of sixty megabytes",
    "/v1/images/generations",
    () => `{"model":"seedream","prompt":"p","image":${picture(60 * MiB)}}`,
    passed,
  ),
  playground("thirty megabytes of brackets", chat, () => "[".repeat(30 * MiB), refused),
];
