import { describe, expect, test } from "bun:test";
import type { ModelType } from "#core/index.ts";
import { kindOf } from "../../test/provider-fixture.ts";
import { suggestedModel } from "./upstream-models.ts";

/** Model names from the vendors' lists, by model type. */
const lists: Readonly<Record<string, Partial<Record<ModelType, readonly string[]>>>> = {
  openai: {
    chat: [
      ...["gpt-5", "gpt-5.1-codex-max", "gpt-5-mini-2025-08-07", "gpt-4o", "gpt-4o-search-preview", "gpt-4.1-nano"],
      ...["o3-pro", "o4-mini-deep-research", "chatgpt-4o-latest", "gpt-3.5-turbo", "computer-use-preview"],
      ...["gpt-audio", "gpt-4o-audio-preview", "gpt-oss-120b"],
    ],
    completion: ["gpt-3.5-turbo-instruct", "gpt-3.5-turbo-instruct-0914", "davinci-002", "babbage-002"],
    embedding: ["text-embedding-3-large", "text-embedding-ada-002"],
    image: ["gpt-image-1", "gpt-image-1-mini", "chatgpt-image-latest", "dall-e-3"],
    video: ["sora-2", "sora-2-pro"],
    speech: ["tts-1", "tts-1-hd-1106", "gpt-4o-mini-tts", "gpt-4o-mini-tts-2025-12-15"],
    transcription: ["whisper-1", "gpt-4o-transcribe", "gpt-4o-transcribe-diarize", "gpt-4o-mini-transcribe"],
    moderation: ["omni-moderation-latest", "text-moderation-stable"],
  },
  gemini: {
    chat: ["gemini-3-pro-preview", "gemini-2.5-flash-lite", "gemma-3-27b-it", "learnlm-2.0-flash-experimental"],
    embedding: ["gemini-embedding-001", "text-embedding-004", "embedding-001"],
    image: ["gemini-2.5-flash-image", "gemini-3-pro-image-preview", "imagen-4.0-generate-001"],
    video: ["veo-3.1-generate-preview", "veo-2.0-generate-001"],
  },
  mistral: {
    chat: [
      ...["mistral-large-latest", "mistral-medium-2508", "magistral-medium-latest", "devstral-small-2507"],
      ...["ministral-8b-latest", "pixtral-large-latest", "open-mistral-nemo"],
      ...["voxtral-small-latest", "codestral-latest", "codestral-2508"],
    ],
    embedding: ["mistral-embed", "codestral-embed-2505"],
    moderation: ["mistral-moderation-2411"],
    transcription: ["voxtral-mini-transcribe-2507", "voxtral-mini-latest"],
  },
  cohere: {
    chat: ["command-a-03-2025", "command-r-plus-08-2024", "command-a-vision-07-2025", "c4ai-aya-expanse-32b"],
    embedding: ["embed-v4.0", "embed-multilingual-light-v3.0"],
    rerank: ["rerank-v3.5", "rerank-english-v3.0", "rerank-v4.0-pro"],
  },
  jina: {
    embedding: ["jina-embeddings-v4", "jina-clip-v2", "jina-code-embeddings-1.5b", "jina-colbert-v2"],
    rerank: ["jina-reranker-v2-base-multilingual", "jina-reranker-m0", "jina-reranker-v3"],
  },
  groq: {
    chat: ["llama-3.3-70b-versatile", "openai/gpt-oss-120b", "groq/compound", "moonshotai/kimi-k2-instruct-0905"],
    transcription: ["whisper-large-v3", "whisper-large-v3-turbo"],
    speech: ["playai-tts", "playai-tts-arabic", "canopylabs/orpheus-v1-english"],
  },
  together: {
    chat: ["meta-llama/Llama-3.3-70B-Instruct-Turbo", "deepseek-ai/DeepSeek-V3.1", "Qwen/Qwen3-Coder-480B-A35B"],
    embedding: ["BAAI/bge-base-en-v1.5", "intfloat/multilingual-e5-large-instruct", "Alibaba-NLP/gte-modernbert-base"],
    image: ["black-forest-labs/FLUX.1-schnell", "stabilityai/stable-diffusion-3-medium", "Qwen/Qwen-Image"],
    rerank: ["mixedbread-ai/Mxbai-Rerank-Large-V2", "Salesforce/Llama-Rank-V1"],
    speech: ["cartesia/sonic-2", "hexgrad/Kokoro-82M", "canopylabs/orpheus-3b-0.1-ft"],
  },
  dashscope: {
    chat: ["qwen-max", "qwen3-coder-plus", "qwen3-vl-plus", "qwq-plus", "qwen3-omni-flash", "deepseek-v3.2"],
    embedding: ["text-embedding-v4", "multimodal-embedding-v1"],
    rerank: ["gte-rerank-v2", "qwen3-rerank"],
    video: ["wan2.6-t2v", "wan2.5-i2v-preview", "wanx2.1-kf2v-plus", "wan2.2-s2v", "happyhorse-1.0-t2v"],
  },
};

describe("suggested types of models in vendors' lists", () => {
  test.each(
    Object.entries(lists).flatMap(([kind, types]) =>
      Object.entries(types).map(([type, ids]) => [kind, type as ModelType, ids] as const),
    ),
  )("suggests the type of %s models: %s", (kind, type, ids) => {
    const guessed = ids.map((id) => [id, suggestedModel(kindOf(kind), { id, type: null }).type]);
    expect(guessed).toEqual(ids.map((id) => [id, type]));
  });
});
