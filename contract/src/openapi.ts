import { errorCodeTable } from "./error-codes.ts";
import { agentPaths } from "./openapi/agent-paths.ts";
import { assetPaths } from "./openapi/asset-paths.ts";
import { batchPaths } from "./openapi/batch-paths.ts";
import { consolePaths, consoleTags } from "./openapi/console-paths.ts";
import { controlPaths } from "./openapi/control-paths.ts";
import { errorResponses } from "./openapi/error-responses.ts";
import { filePaths } from "./openapi/file-paths.ts";
import { generationPaths } from "./openapi/generation-paths.ts";
import { answerHeaders } from "./openapi/headers.ts";
import { modelPaths } from "./openapi/model-paths.ts";
import { objectPaths } from "./openapi/object-paths.ts";
import { openAiVideoPaths } from "./openapi/openai-video-paths.ts";
import { passThroughPaths } from "./openapi/pass-through-paths.ts";
import { componentSchemas } from "./openapi/schemas.ts";
import type { OpenApiDocument } from "./openapi/types.ts";
import { untranslatedPaths } from "./openapi/untranslated-paths.ts";
import { videoPaths } from "./openapi/video-paths.ts";

/** The document that `GET /openapi.json` returns. `publicUrl` null: the address the document was read from. */
export function openApiDocument(publicUrl: string | null): OpenApiDocument {
  return {
    openapi: "3.1.1",
    info: {
      title: "Sluice",
      // The version of the API. The version of the program is shown only to signed-in users.
      version: "1",
      summary: "One address and one key in front of every model provider.",
      description: `${introduction}\n\n## Errors\n\n${errorCodeTable()}`,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: publicUrl ?? "/" }],
    tags: [
      { name: "models", description: "The models that the calling key may use." },
      { name: "generation", description: "Calls to models." },
      { name: "pass-through", description: "A provider's own API, for keys with pass-through." },
      { name: "video", description: "Video tasks: create, poll, download." },
      { name: "assets", description: "Reusable media for videos and images, in groups." },
      { name: "batches", description: "Many calls that run later." },
      { name: "files", description: "Files that calls name by their id." },
      { name: "objects", description: "Conversations, containers, skills and vector stores, which vendors store." },
      { name: "usage", description: "Usage and limits of the calling key." },
      { name: "agents", description: "Sign-in of coding agents as a user. No key is needed." },
      { name: "operations", description: "Health, metrics and this document. No key is needed." },
      { name: "setup", description: "Setup of the first administrator." },
      ...consoleTags(),
    ],
    security: [{ bearer: [] }, { apiKey: [] }, { googleKey: [] }],
    paths: {
      ...modelPaths(),
      ...generationPaths(),
      ...untranslatedPaths(),
      ...passThroughPaths(),
      ...videoPaths(),
      ...openAiVideoPaths(),
      ...assetPaths(),
      ...batchPaths(),
      ...filePaths(),
      ...objectPaths(),
      ...agentPaths(),
      ...controlPaths(),
      ...consolePaths(),
    },
    components: {
      schemas: componentSchemas(),
      responses: errorResponses(),
      headers: answerHeaders,
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "`Authorization: Bearer <key>`" },
        apiKey: { type: "apiKey", in: "header", name: "x-api-key", description: "The same key, in `x-api-key`." },
        adminToken: { type: "http", scheme: "bearer", description: "`Authorization: Bearer sluice-admin-…`" },
        session: { type: "apiKey", in: "cookie", name: "session", description: "A session of the console." },
        googleKey: {
          type: "apiKey",
          in: "header",
          name: "x-goog-api-key",
          description: "The same key, in Gemini's header.",
        },
      },
    },
  };
}

const introduction = [
  "Sluice forwards calls to the provider that serves the model. It checks the key, its models and its limits, and records",
  "what each call cost.",
  "",
  "Send the key as `Authorization: Bearer <key>` or `x-api-key: <key>` on every endpoint. A request with two different",
  "keys is refused.",
  "",
  "Request fields that Sluice does not know are always forwarded. If caller and upstream use the same dialect, only the",
  "model name is replaced in the request, and the response is returned unchanged.",
].join("\n");
