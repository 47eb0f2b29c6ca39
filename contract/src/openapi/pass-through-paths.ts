import { errorsShaped } from "./error-responses.ts";
import { headersOf } from "./headers.ts";
import type { MediaType, Operation, Parameter, PathItem } from "./types.ts";

/** A provider's own API, whatever it is. */
export function passThroughPaths(): Record<string, PathItem> {
  return {
    "/v1/providers/{provider}/{path}": {
      get: operation("Get", "Read at a provider's own API", false),
      post: operation("Post", "Call a provider's own API", true),
      put: operation("Put", "Put something at a provider's own API", true),
      patch: operation("Patch", "Change something at a provider's own API", true),
      delete: operation("Delete", "Delete something at a provider's own API", false),
    },
  };
}

const description = [
  "For keys whose workspace, group and key all name the provider in `pass_through`; for all others it does not exist (404).",
  "`path` is any path below the provider's base URL, slashes and query included; a version at its beginning that the base URL ends with",
  "is said once. The provider's credential takes the place of the caller's; bodies of any type pass byte for byte, both ways.",
  "Errors of the gateway have the shape of the provider's own.",
  "It is sent once. Redirects are not followed (502), WebSockets are refused (426), paths that administer the account are 403.",
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
    description: "What stands below the provider's base URL; may hold slashes.",
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
        description: "The provider's own answer, with its status.",
        headers: headersOf("call"),
        content: anything,
      },
      ...errorsShaped("any", 400, 401, 402, 403, 404, 405, 408, 413, 426, 429, 500, 502, 503, 504),
    },
  };
}
