import { answerEmbeddings, writeEmbeddings } from "#protocols/index.ts";
import type { Job } from "./job-desk.ts";

export const writeVectorsAsked: Job<"embeddings"> = (body, ask) => {
  const warnings: string[] = [];
  const { made, asked } = writeEmbeddings(body, ask, (what) => void warnings.push(what));
  return { made, answer: { asked, warnings } };
};

export const answerVectors: Job<"embeddings-answer"> = (reply, ask) => ({
  made: answerEmbeddings(reply, ask, ask),
  answer: null,
});
