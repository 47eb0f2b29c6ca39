import { accepted, chat, either, type HostileShape, MiB, many, refused, userMessage } from "./hostile-shape.ts";

function playground(what: string, path: string, body: () => string, answers: readonly number[]): HostileShape {
  return { name: `playground: ${what}`, path, playground: true, body, answers };
}

const picture = (bytes: number): string => `"data:image/png;base64,${"A".repeat(bytes)}"`;
const imagePart = (bytes: number): string => `{"type":"image_url","image_url":{"url":${picture(bytes)}}}`;

/** Requests through the console take the same way as the others. */
export const playgroundShapes: readonly HostileShape[] = [
  playground(
    "a chat with an image of 60 MiB",
    chat,
    () => `{"model":"openai","messages":[{"role":"user","content":[${imagePart(60 * MiB)}]}]}`,
    accepted,
  ),
  playground(
    "60,000 messages to translate",
    chat,
    () => `{"model":"claude","messages":[${many(60_000, userMessage)}]}`,
    either,
  ),
  playground(
    "a video with an image of 30 MiB",
    "/v1/video/tasks",
    () => `{"model":"clip","prompt":"p","image":${picture(30 * MiB)}}`,
    accepted,
  ),
  playground(
    "a video with an image that is too large",
    "/v1/video/tasks",
    () => `{"model":"clip","prompt":"p","image":${picture(33 * MiB)}}`,
    refused,
  ),
  playground(
    "an image with an image of 60 MiB",
    "/v1/images/generations",
    () => `{"model":"seedream","prompt":"p","image":${picture(60 * MiB)}}`,
    accepted,
  ),
  playground("30 MiB of brackets", chat, () => "[".repeat(30 * MiB), refused),
];
