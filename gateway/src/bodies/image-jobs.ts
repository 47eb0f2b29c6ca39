import {
  geminiImageCodec,
  readFormContent,
  readImageForm,
  readImageTurn,
  writeImageAnswer,
  writeImageEvents,
  writeImageJson,
} from "#protocols/index.ts";
import type { Job } from "./job-desk.ts";

export const writeImages: Job<"images"> = (body, { talks, boundary, upstreamModel }) => {
  const warnings: string[] = [];
  const warn = (what: string): void => void warnings.push(what);
  const content = boundary === null ? body : readFormContent(body, boundary);
  if (!talks) {
    const made = writeImageJson(content, upstreamModel, warn);
    return { made, answer: { asked: { size: null, quality: null, background: null }, warnings } };
  }
  const turn = content instanceof Uint8Array ? readImageTurn(content, warn) : readImageForm(content, warn);
  const { size, quality, background } = turn;
  const made = geminiImageCodec.writeImageTurn(turn, warn);
  return { made, answer: { asked: { size, quality, background }, warnings } };
};

export const answerImages: Job<"image-answer"> = (reply, { createdAt, stream, asked }) => {
  const read = geminiImageCodec.readImageAnswer(reply);
  const made = stream === null ? writeImageAnswer(read, createdAt) : writeImageEvents(read, createdAt, stream, asked);
  return { made, answer: { images: read.images.length } };
};
