import { admitted, withKey } from "../../authenticated.ts";
import { createOpenAiFile, deleteOpenAiFile, getOpenAiFile, listOpenAiFiles } from "./openai-files.ts";

export { getFileContent } from "./openai-files.ts";

export const createFile = withKey(createOpenAiFile);
export const listFiles = withKey(listOpenAiFiles);
export const getFile = withKey(getOpenAiFile);
export const deleteFile = withKey((exchange, principal) =>
  admitted(exchange, principal, () => deleteOpenAiFile(exchange, principal)),
);
