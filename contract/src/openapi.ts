import { errorCodeTable } from "./error-codes.ts";
import { agentPaths } from "./openapi/agent-paths.ts";
import { assetPaths } from "./openapi/asset-paths.ts";
import { consolePaths } from "./openapi/console-paths.ts";
import { controlPaths } from "./openapi/control-paths.ts";
import { errorResponses } from "./openapi/error-responses.ts";
import { generationPaths } from "./openapi/generation-paths.ts";
import { answerHeaders } from "./openapi/headers.ts";
import { modelPaths } from "./openapi/model-paths.ts";
import { openAiVideoPaths } from "./openapi/openai-video-paths.ts";
import { passThroughPaths } from "./openapi/pass-through-paths.ts";
import { passedPaths } from "./openapi/passed-paths.ts";
import { componentSchemas } from "./openapi/schemas.ts";
import type { OpenApiDocument } from "./openapi/types.ts";
import { videoPaths } from "./openapi/video-paths.ts";

/**
 * The OpenAPI 3.1 description of the gateway: what `GET /openapi.json` answers. `publicUrl` is the address callers use;
 * null means the address the document was read from.
 */
export function openApiDocument(publicUrl: string | null): OpenApiDocument {
  return {
    openapi: "3.1.1",
    info: {
      title: "Sluice",
      // The version of the API, as in its paths. The version of the program is shown to people who have signed in.
      version: "1",
      summary: "One address and one key in front of every model provider.",
      description: `${introduction}\n\n## Errors\n\n${errorCodeTable()}`,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: publicUrl ?? "/" }],
    tags: [
      { name: "models", description: "Which models the calling key may use." },
      { name: "generation", description: "Calls that are carried to an upstream." },
      { name: "pass-through", description: "A provider's own API, for keys that are granted it." },
      { name: "video", description: "Videos as tasks: started, asked about, fetched." },
      { name: "assets", description: "Reusable material for videos and pictures, in groups." },
      { name: "usage", description: "What the calling key has used, and what it has left." },
      { name: "agents", description: "Sign-in of coding agents as a person, instead of a key. No key is needed." },
      { name: "operations", description: "Health, metrics and this document. No key is needed." },
      { name: "set-up", description: "The first administrator." },
      {
        name: "admin",
        description:
          "What the console does, for scripts too: send an admin token as `Authorization: Bearer sluice-admin-…`. Times are Unix milliseconds, money is USD, lists page by `cursor`.",
      },
    ],
    security: [{ bearer: [] }, { apiKey: [] }, { googleKey: [] }],
    paths: {
      ...modelPaths(),
      ...generationPaths(),
      ...passedPaths(),
      ...passThroughPaths(),
      ...videoPaths(),
      ...openAiVideoPaths(),
      ...assetPaths(),
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
          description: "The same, as Gemini's clients send it.",
        },
      },
    },
  };
}

const introduction = [
  "Sluice carries a call to the upstream that serves the model, checks the key, the model grant and the limits on the",
  "way, and writes down what it cost.",
  "",
  "A key may be sent as `Authorization: Bearer <key>` or as `x-api-key: <key>`, on every endpoint. Two different keys in",
  "one request are refused.",
  "",
  "Request fields that Sluice does not know are never refused and always forwarded. When caller and upstream speak the",
  "same dialect the body passes unchanged but for the model name, and so does the answer.",
].join("\n");
