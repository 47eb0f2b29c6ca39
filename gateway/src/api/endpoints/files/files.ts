import type { Principal } from "#core/index.ts";
import { anthropicMessages, gemini } from "#protocols/index.ts";
import { admitted, withKey } from "../../authenticated.ts";
import type { Exchange } from "../../dependencies.ts";
import { vendorDialect } from "../../google-path.ts";
import { createAnthropicFile, deleteAnthropicFile, getAnthropicFile, listAnthropicFiles } from "./anthropic-files.ts";
import { deleteGeminiFile, getGeminiFile, listGeminiFiles } from "./gemini-files.ts";
import { createOpenAiFile, deleteOpenAiFile, getOpenAiFile, listOpenAiFiles } from "./openai-files.ts";

type Work = (exchange: Exchange, principal: Principal) => Promise<object>;

/** The vendors share these paths. The client's headers name the dialect. */
function byVendor(openAi: Work, anthropic: Work, google: Work): Work {
  return (exchange, principal) => {
    const dialect = vendorDialect(exchange.request.headers);
    const work = dialect === anthropicMessages ? anthropic : dialect === gemini ? google : openAi;
    return work(exchange, principal);
  };
}

export const createFile = withKey(byVendor(createOpenAiFile, createAnthropicFile, createOpenAiFile));
export const listFiles = withKey(byVendor(listOpenAiFiles, listAnthropicFiles, listGeminiFiles));
export const getFile = withKey(byVendor(getOpenAiFile, getAnthropicFile, getGeminiFile));

const remove = byVendor(deleteOpenAiFile, deleteAnthropicFile, deleteGeminiFile);
export const deleteFile = withKey((exchange, principal) =>
  admitted(exchange, principal, () => remove(exchange, principal)),
);
