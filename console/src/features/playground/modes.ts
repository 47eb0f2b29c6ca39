import { type ModelTypeName, modelTypes } from "@sluice/contract";
import { t } from "../../language/areas/playground.ts";
import { isDemoName } from "../first-run/demo-name.ts";

/** The modes of the playground: one for each model type. */
export const modes = modelTypes;
export type Mode = ModelTypeName;
export const modeWords: Readonly<Record<Mode, string>> = {
  chat: t("playground.types.chat"),
  completion: t("playground.types.completion"),
  image: t("playground.types.image"),
  video: t("playground.types.video"),
  embedding: t("playground.types.embedding"),
  rerank: t("playground.types.rerank"),
  moderation: t("playground.types.moderation"),
  decision: t("playground.types.decision"),
  transcription: t("playground.types.transcription"),
  speech: t("playground.types.speech"),
};

/** A model as `GET /v1/models` returns it for the key. */
export interface PlayModel {
  readonly id: string;
  readonly type: Mode;
  /** Its API paths. */
  readonly endpoints: readonly string[];
}

/** A model is offered in a mode if one of its paths starts with this prefix. */
const paths: Readonly<Record<Mode, string>> = {
  chat: "/v1/chat/completions",
  completion: "/v1/completions",
  image: "/v1/images/",
  video: "/v1/video/tasks",
  embedding: "/v1/embeddings",
  rerank: "/v1/rerank",
  moderation: "/v1/moderations",
  decision: "/v1/decisions",
  transcription: "/v1/audio/tran",
  speech: "/v1/audio/speech",
};

/** The models of an answer that can be called in their mode; the built-in demo's come last. */
export function modelsIn(answer: unknown): readonly PlayModel[] {
  const models = callableIn(answer);
  return [...models.filter(({ id }) => !isDemoName(id)), ...models.filter(({ id }) => isDemoName(id))];
}

function callableIn(answer: unknown): readonly PlayModel[] {
  const data = answer !== null && typeof answer === "object" && "data" in answer ? answer.data : null;
  if (!Array.isArray(data)) return [];
  return data.flatMap((item: { id?: unknown; type?: unknown; endpoints?: unknown }): PlayModel[] => {
    const type = modes.find((mode) => mode === item.type);
    const { id } = item;
    if (type === undefined || typeof id !== "string" || !Array.isArray(item.endpoints)) return [];
    const endpoints = item.endpoints.map(String);
    return endpoints.some((path) => path.startsWith(paths[type])) ? [{ id, type, endpoints }] : [];
  });
}

export interface Choice {
  readonly mode: Mode;
  /** null: the key cannot call any model of this mode. */
  readonly model: string | null;
}

/** The mode and model to open: a model in the URL wins over the mode; missing ones fall back to the first. */
export function chosen(models: readonly PlayModel[], askedMode: string, askedModel: string): Choice {
  const named = models.find((model) => model.id === askedModel);
  const wanted = modes.find((mode) => mode === askedMode);
  if (named !== undefined && (wanted === undefined || named.type === wanted)) {
    return { mode: named.type, model: named.id };
  }
  const mode = wanted ?? modes.find((each) => models.some((model) => model.type === each)) ?? "chat";
  return { mode, model: models.find((model) => model.type === mode)?.id ?? null };
}
