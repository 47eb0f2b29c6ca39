import { errorsShaped } from "./error-responses.ts";
import { headersOf } from "./headers.ts";
import type { MediaType, Operation, Parameter, PathItem } from "./types.ts";

/** Calls to a provider's own API. */
export function passThroughPaths(): Record<string, PathItem> {
  return {
    "/v1/providers/{provider}/{path}": {
      get: operation("Get", "Send a GET request to a provider's own API", false),
      post: operation("Post", "Send a POST request to a provider's own API", true),
      put: operation("Put", "Send a PUT request to a provider's own API", true),
      patch: operation("Patch", "Send a PATCH request to a provider's own API", true),
      delete: operation("Delete", "Send a DELETE request to a provider's own API", false),
    },
  };
}

const description = [
  "The provider must be listed in `pass_through` of the key, its group and its workspace; otherwise the response is 404.",
  "`path` is any path below the provider's base URL, with slashes and query. If it starts with the version that the base URL ends with,",
  "the version is not repeated. The caller's credential is replaced by the provider's; bodies of any type are forwarded unchanged both ways.",
  "The gateway's own errors have the provider's error format.",
  "There are no retries. Redirects return 502, WebSockets 426, and paths that administer the provider account 403.",
].join(" ");

const parameters: readonly Parameter[] = [
  {
    name: "provider",
    in: "path",
    required: true,
    description: "The id of a provider of this gateway.",
    schema: { type: "string" },
  },
  {
    name: "path",
    in: "path",
    required: true,
    description: "The path below the provider's base URL. It may contain slashes.",
    schema: { type: "string" },
  },
];

const anything: Record<string, MediaType> = { "*/*": { schema: {} } };

function operation(name: string, summary: string, hasBody: boolean): Operation {
  return {
    operationId: `passThrough${name}`,
    summary,
    description,
    tags: ["pass-through"],
    parameters: [...parameters],
    ...(hasBody ? { requestBody: { required: false, content: anything } } : {}),
    responses: {
      "200": {
        description: "The provider's response, with its status.",
        headers: headersOf("call"),
        content: anything,
      },
      ...errorsShaped("any", 400, 401, 402, 403, 404, 405, 408, 413, 426, 429, 500, 502, 503, 504),
    },
  };
}
