/**
 * What the forms of providers say, by kind and setting: the gateway's own words, which a test compares. `setting` is what a
 * setting is called in every kind, unless the kind calls it otherwise. A kind that is newer than this speaks for itself.
 */
export const kinds = {
  setting: {
    endpoints: {
      label: "Endpoints",
      help: "Only these are used. Leave it empty for the usual ones.",
    },
    forward_headers: {
      label: "Forwarded headers",
      help: "Headers of callers that this account gets beside the usual ones, such as x-router-trace or x-router-*.",
    },
    objects: {
      label: "Shared objects",
      help: "Files, stores, prompts, conversations and caches of the account that every workspace may name: ids, or beginnings with a *. Where one workspace alone can reach the account, it may name all.",
    },
    fetches_urls: {
      label: "Upstream fetches URLs",
      help: "No: pictures are fetched here and sent along. Yes, for an upstream in a private network: it can reach nothing that callers must not. Default: no in a private network, else yes.",
    },
    reasoning: {
      label: "Model reasoning",
      help: 'By names of models or beginnings with a *: \'{"glm-*": {"switch": "thinking", "efforts": ["high", "max"]}}\'. Also always, never and wants_thoughts. Only where it differs from what is known.',
    },
    cost_source: {
      label: "Cost",
      help: "Where an answer says what it cost: vendor books that, price books usage times price. Both are recorded. Default: vendor for OpenRouter and xAI, else price.",
    },
    pass_members: {
      label: "Forwarded fields",
      help: "Fields of requests that choose a model, a route, a tier or a size past the gateway's prices and grants, and are kept back unless they are named here.",
    },
    pass_through: {
      label: "Pass-through",
      help: '\'{"price_per_call": 0.001, "deny": ["fine_tuning"]}\': what a call below /v1/providers/… costs, in USD, that no model has a price for (without it such a call is refused where a budget holds), and beginnings of paths that are refused beside those that administer the account.',
    },
    proxy: {
      label: "Egress proxy",
      help: "By which calls to this provider leave, such as http://user:password@proxy.example:3128; none for straight. Default: as the gateway's environment says.",
    },
    ca: {
      label: "Certificate authorities",
      help: "PEM, believed beside the usual ones.",
    },
    client_certificate: {
      label: "Client certificate",
      help: "PEM, which the gateway shows of itself. Goes with its key.",
    },
    client_key: {
      label: "Client key",
      help: "PEM, not encrypted.",
    },
    output_cap: {
      label: "Output limit field",
      help: "What the server calls it. A call that names it otherwise is changed.",
    },
    stream_options: {
      label: "Supports stream_options",
      help: "No: the server refuses it. Usage of streams is then estimated, unless the server tells it unasked. Default: yes.",
    },
    schema_output: {
      label: "Supports output schemas",
      help: "No: in a translated call JSON is asked for, and the schema said in words. Default: yes.",
    },
    cache_marks: {
      label: "Add cache marks",
      help: "Yes: translated calls to the Messages API are marked for the prompt cache even if the caller does not ask for it. Writing a cache costs more than plain input. Default: no.",
    },
    reasoning_usage: {
      label: "Reasoning tokens in usage",
      help: "Whether completion_tokens includes reasoning_tokens. Default: inside, as at OpenAI.",
    },
    cache_usage: {
      label: "Cached tokens in usage",
      help: "Whether prompt_tokens includes cached tokens. Default: inside, as at OpenAI.",
    },
    reasoning_field: {
      label: "Reasoning field",
      help: "The field in which earlier thoughts come back with the tool calls that they led to, in a translated call.",
    },
    resource: {
      label: "Resource",
      help: "The name before .openai.azure.com. Needed where no base URL is given.",
    },
    api_version: {
      label: "API version",
      help: "Of the dated API, such as 2024-10-21. Leave it empty for the v1 API.",
    },
    region: {
      label: "Region",
    },
    secret_access_key: {
      label: "Secret access key",
    },
    session_token: {
      label: "Session token",
      help: "Of temporary credentials only.",
    },
    betas: {
      label: "Forwarded betas",
      help: "Names of Anthropic's betas that this account takes; * for all. Leave it empty for the usual ones.",
    },
    project: {
      label: "Project",
      help: "Its ID.",
    },
    location: {
      label: "Location",
      help: "Default: global.",
    },
    storage_uri: {
      label: "Video bucket",
    },
    project_name: {
      label: "Project",
      help: "Where the library's groups are made. Default: default.",
    },
    openapi_url: {
      label: "Asset library URL",
    },
    mark_tasks: {
      label: "Tag video tasks",
      help: "Sends our task's id along as safety_identifier, so that a task whose answer was lost is found again.",
    },
    access_key: {
      label: "Access key",
      help: "Of an account that has a pair of keys. Leave it empty for a plain API key.",
    },
  },
  kind: {
    openai: {
      apiKey: "Create one at platform.openai.com, under API keys.",
    },
    "openai-compatible": {
      title: "OpenAI-compatible",
      baseUrl:
        "What stands before /chat/completions, mostly with /v1 at its end. On a private address, allow the private network.",
      apiKey: "What the server asks for, if anything; sent as a bearer.",
    },
    anthropic: {
      baseUrl: "With or without /v1 at its end.",
      apiKey: "Create one at console.anthropic.com, under API keys.",
    },
    gemini: {
      apiKey: "Create one at aistudio.google.com, under API keys.",
    },
    "azure-openai": {
      baseUrl:
        "The resource's endpoint, such as https://NAME.openai.azure.com. Leave it empty to go by the resource's name.",
      apiKey: "Key 1 or key 2 of the resource, under Keys and Endpoint.",
    },
    bedrock: {
      baseUrl: "Leave it empty: the region says where. Of a VPC endpoint: its address.",
      apiKey: "A Bedrock API key. Leave it empty to sign with an access key.",
      setting: {
        access_key_id: {
          label: "Access key ID",
          help: "Of an IAM user or role that may invoke models, unless there is a Bedrock API key. Goes together with the secret access key.",
        },
      },
    },
    vertex: {
      baseUrl: "Leave it empty: the location says where.",
      apiKey: "A service account's key, as the whole JSON text it is given out as; or an access token.",
    },
    ark: {
      title: "Volcengine Ark",
      apiKey: "Create one at console.volcengine.com/ark, under API keys.",
      setting: {
        access_key_id: {
          label: "Access key ID",
          help: "For the asset library, which does not take the API key. Goes together with the secret access key.",
        },
        region: {
          label: "Asset library region",
        },
      },
    },
    byteplus: {
      apiKey: "Create one at console.byteplus.com/ark, under API keys.",
      setting: {
        access_key_id: {
          label: "Access key ID",
          help: "For the asset library, which does not take the API key. Goes together with the secret access key.",
        },
        region: {
          label: "Asset library region",
        },
      },
    },
    deepseek: {
      apiKey: "Create one at platform.deepseek.com, under API keys.",
    },
    mistral: {
      apiKey: "Create one at console.mistral.ai, under API keys.",
    },
    xai: {
      apiKey: "Create one at console.x.ai, under API keys.",
    },
    groq: {
      apiKey: "Create one at console.groq.com, under API keys.",
    },
    together: {
      apiKey: "Create one at api.together.ai, under Settings, API keys.",
    },
    fireworks: {
      apiKey: "Create one at app.fireworks.ai, under API keys.",
    },
    openrouter: {
      apiKey: "Create one at openrouter.ai, under Keys.",
    },
    moonshot: {
      title: "Moonshot AI (Kimi)",
      baseUrl: "For an account in China: https://api.moonshot.cn/v1.",
      apiKey: "Create one at platform.moonshot.ai (in China: platform.moonshot.cn), under API keys.",
    },
    zhipu: {
      title: "Z.ai (Zhipu)",
      baseUrl:
        "For an account in China: https://open.bigmodel.cn/api/paas/v4. For a coding plan: https://api.z.ai/api/coding/paas/v4.",
      apiKey: "Create one at z.ai (in China: open.bigmodel.cn), under API keys.",
    },
    dashscope: {
      title: "Alibaba Cloud Model Studio (Qwen)",
      baseUrl: "A key belongs to one region. Outside China: https://dashscope-intl.aliyuncs.com/compatible-mode/v1.",
      apiKey: "Create one in the console of Model Studio (Bailian), under API keys.",
    },
    minimax: {
      baseUrl: "For an account in China: https://api.minimaxi.com/v1.",
      apiKey: "Create one at platform.minimax.io (in China: platform.minimaxi.com), under API keys.",
    },
    cohere: {
      apiKey: "Create one at dashboard.cohere.com, under API keys.",
    },
    jina: {
      apiKey: "Create one at jina.ai, under API key and billing.",
    },
    kling: {
      title: "Kling",
      baseUrl: "For an account in China: https://api-beijing.klingai.com.",
      apiKey:
        "The secret key that belongs to the access key; or a plain API key alone. Created at app.klingai.com, under API keys.",
    },
    vidu: {
      baseUrl: "For an account in China: https://api.vidu.cn.",
      apiKey: "Create one at platform.vidu.com, under API keys.",
    },
    runway: {
      apiKey: "A secret; create one at dev.runwayml.com, under API keys.",
    },
    fal: {
      apiKey: "Create one at fal.ai, under Keys.",
    },
    replicate: {
      apiKey: "A token; create one at replicate.com, under API tokens.",
    },
    ollama: {
      baseUrl: "A server of your own: allow the private network for this provider.",
      apiKey: "Only where something in front of the server asks for one.",
    },
    vllm: {
      baseUrl:
        "Where the server listens, such as http://10.0.0.7:8000. On a private address, allow the private network.",
      apiKey: "What the server was started with as --api-key, if anything.",
    },
    demo: {
      title: "Built-in demo",
      baseUrl: "Inside this process: nothing leaves it.",
    },
  },
} as const;
