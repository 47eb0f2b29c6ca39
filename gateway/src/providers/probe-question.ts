import { type ModelEndpointId, type ModelEndpointRow, modelEndpoints } from "@sluice/contract/words";
import type { EndpointId, ModelType, Provider, WireDialectId } from "#core/index.ts";
import { smallestRequest } from "#protocols/index.ts";
import type { Lane, ProviderKind } from "./kind.ts";
import { lanesOf, laneUrl, rootOf } from "./lanes.ts";
import { type OutboundDraft, outboundDraft } from "./outbound-draft.ts";
import { type WrittenForm, writeForm } from "./write-form.ts";

/** A request for a page of the model list; null: the provider type has none. `page` is the query of a later page. */
export function listQuestion(provider: Provider, kind: ProviderKind, page: string | null): OutboundDraft | null {
  if (kind.listsModels === false) return null;
  const query = [kind.modelsQuery, page].filter((part) => part != null).join("&");
  // Vendors with both dialects report more in OpenAI's format.
  const dialects = new Set(kind.lanes.map((lane) => lane.dialect));
  const isAnthropic = dialects.has("anthropic-messages") && !dialects.has("openai-chat");
  const url = `${rootOf(provider)}/models${query === "" ? "" : `?${query}`}`;
  const headers = isAnthropic ? { "anthropic-version": "2023-06-01" } : {};
  return questionDraft(provider, url, { headers });
}

/** The lane to test an account: chat completions if it has them, else the first that generates text. */
export function testLane(provider: Provider, kind: ProviderKind, upstreamModel: string, type: ModelType): Lane | null {
  const lanes = lanesOf(kind, provider).filter((lane) => lane.fits?.(upstreamModel) ?? true);
  for (const endpoint of endpointsToTry(type)) {
    const lane = lanes.find((one) => one.endpoint === endpoint);
    if (lane !== undefined) return lane;
  }
  return null;
}

function endpointsToTry(type: ModelType): readonly EndpointId[] {
  const chosen = endpointsByType[type];
  if (chosen !== undefined) return chosen;
  const endpoints = Object.entries(modelEndpoints) as [ModelEndpointId, ModelEndpointRow][];
  return endpoints.filter(([, { types }]) => types.includes(type)).map(([endpoint]) => endpoint);
}

/** Images and videos are too expensive for a test. */
const endpointsByType: Readonly<Partial<Record<ModelType, readonly EndpointId[]>>> = {
  chat: ["chat", "messages", "responses", "generate", "interactions"],
  image: [],
  video: [],
};

/** The smallest request of a lane; it costs a few tokens or a second of audio. */
export function smallQuestion(provider: Provider, lane: Lane, upstreamModel: string): OutboundDraft {
  const { contentType, body } = smallBody(lane.dialect, upstreamModel);
  const draft = questionDraft(provider, laneUrl(provider, lane, upstreamModel, false), {
    upstreamModel,
    method: "POST",
    headers: { "content-type": contentType, ...(lane.dialect === "openai-speech" ? { accept: "*/*" } : {}) },
    body,
  });
  lane.adjust?.(draft);
  return draft;
}

/** Polls a video task that does not exist: free, and shows whether the credential is accepted. */
export function taskQuestion(provider: Provider, kind: ProviderKind, upstreamModel: string): OutboundDraft | null {
  return kind.video?.poll(provider, upstreamModel, kind.video.noTask ?? noTask) ?? null;
}

const noTask = "00000000-0000-0000-0000-000000000000";

const question = "Answer with the word ok.";

function bodyIn(dialect: WireDialectId, model: string): object {
  const messages = [{ role: "user", content: question }];
  switch (dialect) {
    case "anthropic-messages":
      return { model, messages, max_tokens: 16 };
    case "openai-responses":
      return { model, input: question };
    case "mistral-fim":
      return { model, prompt: "ok", max_tokens: 1 };
    case "gemini-embed-content":
      return { content: { parts: [{ text: "ok" }] } };
    case "gemini-batch-embed":
      return { requests: [{ model: `models/${model}`, content: { parts: [{ text: "ok" }] } }] };
    case "vertex-predict":
      return { instances: [{ content: "ok" }] };
    case "titan-embeddings":
      return { inputText: "ok" };
    case "cohere-on-bedrock":
      return { texts: ["ok"], input_type: "search_document" };
    case "gemini-interactions":
      return { model, input: question, store: false };
    case "gemini-decisions":
      return {
        model: `models/${model}`,
        input: "ok",
        questions: { q: { type: "noul", instructions: "The text is ok." } },
      };
    case "gemini":
      return { contents: [{ role: "user", parts: [{ text: question }] }] };
    case "bedrock-converse":
      return { messages: [{ role: "user", content: [{ text: question }] }] };
    default:
      return smallestRequest(dialect, model) ?? { model, messages };
  }
}

function questionDraft(provider: Provider, url: string, request: Partial<OutboundDraft>): OutboundDraft {
  const headers = { accept: "application/json", "user-agent": "sluice", ...request.headers };
  return outboundDraft(provider, url, { ...request, headers });
}

/** Transcriptions get one second of silence, the shortest that vendors accept. */
function smallBody(dialect: WireDialectId, model: string): WrittenForm {
  if (dialect !== "openai-transcriptions") {
    return { contentType: "application/json", body: Buffer.from(JSON.stringify(bodyIn(dialect, model))) };
  }
  const silence = { fileName: "silence.wav", contentType: "audio/wav", bytes: silentWav() };
  const fields = [
    { name: "model", value: model },
    { name: "file", value: silence },
  ];
  return writeForm(fields, "sluice-small-sound");
}

const samplesPerSecond = 8_000;

/** PCM, one channel, 16 bits a sample: http://soundfile.sapp.org/doc/WaveFormat/ */
function silentWav(): Buffer {
  const samples = Buffer.alloc(samplesPerSecond * 2);
  const head = Buffer.alloc(44);
  head.write("RIFF", 0);
  head.writeUInt32LE(36 + samples.length, 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(samplesPerSecond, 24);
  head.writeUInt32LE(samplesPerSecond * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write("data", 36);
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]);
}
