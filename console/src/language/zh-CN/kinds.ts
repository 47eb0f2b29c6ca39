import type { ProviderWords } from "../texts.ts";

export const kinds: ProviderWords = {
  setting: {
    endpoints: {
      label: "接口",
      help: "只使用所选接口，留空则使用默认接口。",
    },
    forward_headers: {
      label: "转发的请求头",
      help: "除默认请求头外，还转发给此账号的客户端请求头，例如 x-router-trace 或 x-router-*。",
    },
    objects: {
      label: "所有工作区可用的对象",
      help: "账号中允许所有工作区引用的文件、向量库、提示词、会话和缓存：填写 ID，或以 * 结尾的前缀。如果只有一个工作区能使用该账号，则可引用全部对象。",
    },
    fetches_urls: {
      label: "由上游获取链接内容",
      help: "关闭：图片由网关获取后随请求发送。开启（适用于内网上游）：由上游自行获取，前提是它访问不到客户端不应触及的内容。默认：内网上游关闭，其他上游开启。",
    },
    reasoning: {
      label: "模型的推理设置",
      help: '按模型名称或以 * 结尾的前缀填写：\'{"glm-*": {"switch": "thinking", "efforts": ["high", "max"]}}\'。还可填写 always、never 和 wants_thoughts。仅在与已知情况不同时填写。',
    },
    cost_source: {
      label: "费用来源",
      help: "当响应中报告了费用时：vendor 按厂商报告的数字记账，price 按用量乘以价格记账。两者都会被记录。默认：OpenRouter 和 xAI 为 vendor，其余为 price。",
    },
    pass_members: {
      label: "转发的字段",
      help: "会绕过网关的价格和授权来选择模型、路由、服务等级或规格的请求字段，默认不转发，除非在此列出。",
    },
    object_prices: {
      label: "存储对象的价格",
      help: '\'{"container_1g": 0.0015, "vector_store": 0.1, "vector_store_search": 0.0025}\'：容器按内存大小的每分钟价格、创建向量库或向其添加文件的每次请求价格、每次检索的价格，单位为美元。默认：OpenAI 的价格；向量库没有默认价格，因此有预算限制时会被拒绝。',
    },
    pass_through: {
      label: "透传",
      help: '\'{"price_per_call": 0.001, "deny": ["fine_tuning"]}\'：/v1/providers/… 下没有模型价格的请求按此计费，单位为美元（未设置时，有预算限制的此类请求会被拒绝）；deny 为除账号管理类路径外还要拒绝的路径前缀。',
    },
    proxy: {
      label: "出站代理",
      help: "调用此提供商时经过的代理，例如 http://user:password@proxy.example:3128；填 none 则直连。默认：按网关环境变量。",
    },
    ca: {
      label: "证书颁发机构",
      help: "PEM 格式，在常用颁发机构之外一并信任。",
    },
    client_certificate: {
      label: "客户端证书",
      help: "PEM 格式，网关用来证明自身身份，须与其私钥一起填写。",
    },
    client_key: {
      label: "客户端私钥",
      help: "PEM 格式，未加密。",
    },
    output_cap: {
      label: "输出上限字段名",
      help: "服务器使用的字段名。使用其他字段名的请求会被改写。",
    },
    stream_options: {
      label: "支持 stream_options",
      help: "关闭：服务器不接受该字段，流式响应的用量按估算计，除非服务器主动返回。默认开启。",
    },
    schema_output: {
      label: "支持输出 Schema",
      help: "关闭：在转换后的请求中要求返回 JSON，并用文字说明 Schema。默认开启。",
    },
    batches: {
      label: "使用供应商的批处理",
      help: "开启：该账号模型的批处理会作为批处理提交给供应商，按批处理价格计费，最长需要一天。关闭：由网关自行运行各行，按正常价格计费。默认：关闭。",
    },
    webhook_secret: {
      label: "Webhook 密钥",
      help: "可选：在供应商处为批处理事件创建的 Webhook 的签名密钥，其地址为 <网关>/v1/batch-callbacks/<此提供商的名称>。收到事件后，网关会立即查询该批处理。",
    },
    cache_marks: {
      label: "自动添加缓存标记",
      help: "开启：转换为 Messages API 的请求即使调用方未要求，也会添加提示缓存标记。写入缓存比普通输入更贵。默认：关闭。",
    },
    reasoning_usage: {
      label: "用量中的推理 token",
      help: "completion_tokens 是否已包含 reasoning_tokens。默认：包含（inside），与 OpenAI 相同。",
    },
    cache_usage: {
      label: "用量中的缓存 token",
      help: "prompt_tokens 是否已包含缓存命中的 token。默认：包含（inside），与 OpenAI 相同。",
    },
    reasoning_field: {
      label: "回传思考内容的字段",
      help: "在转换后的请求中，之前的思考内容随其引发的工具调用一起回传时使用的字段。",
    },
    resource: {
      label: "资源",
      help: ".openai.azure.com 之前的名称。未填写 Base URL 时必填。",
    },
    api_version: {
      label: "API 版本",
      help: "按日期命名的 API 版本，例如 2024-10-21。留空则使用 v1 API。",
    },
    region: {
      label: "地域",
    },
    secret_access_key: {
      label: "Secret Access Key",
    },
    session_token: {
      label: "会话令牌",
      help: "仅用于临时凭证。",
    },
    auth: {
      label: "认证方式",
    },
    tenant_id: {
      label: "租户 ID",
      help: "应用注册所在的目录。使用 workload_identity 时留空则使用 AZURE_TENANT_ID。",
    },
    client_id: {
      label: "客户端 ID",
      help: "应用程序，或用户分配的托管标识。留空则使用机器自身的身份。",
    },
    client_secret: {
      label: "客户端密码",
    },
    identity_provider_id: {
      label: "身份提供方 ID",
    },
    service_account_id: {
      label: "服务账号 ID",
    },
    federation_rule_id: {
      label: "联合规则 ID",
    },
    organization_id: {
      label: "组织 ID",
    },
    workspace_id: {
      label: "工作区 ID",
      help: "仅当规则适用于多个工作区时填写。",
    },
    role_arn: {
      label: "角色 ARN",
      help: "要代入的角色。留空则直接使用最初的凭证。",
    },
    external_id: {
      label: "外部 ID",
      help: "仅当角色的信任策略要求时填写。",
    },
    identity_file: {
      label: "身份令牌文件",
    },
    trust_anchor_arn: {
      label: "信任锚 ARN",
    },
    profile_arn: {
      label: "配置文件 ARN",
    },
    identity_certificate: {
      label: "身份证书",
      help: "PEM 格式：先是证书，再是中间证书。须与其私钥一起填写。",
    },
    identity_key: {
      label: "身份私钥",
      help: "PEM 格式，未加密。",
    },
    betas: {
      label: "转发的 Beta 功能",
      help: "此账号可用的 Anthropic Beta 名称，* 表示全部。留空则使用默认值。",
    },
    project: {
      label: "项目",
      help: "项目 ID。",
    },
    location: {
      label: "位置",
      help: "默认为 global。",
    },
    storage_uri: {
      label: "视频存储桶",
    },
    project_name: {
      label: "项目",
      help: "素材库分组所在的项目，默认为 default。",
    },
    openapi_url: {
      label: "素材库地址",
    },
    mark_tasks: {
      label: "标记视频任务",
      help: "将任务 ID 作为 safety_identifier 一并发送，以便在响应丢失后找回任务。",
    },
    access_key: {
      label: "Access Key",
      help: "用于使用密钥对的账号。使用单个 API 密钥时留空。",
    },
  },
  kind: {
    openai: {
      apiKey: "在 platform.openai.com 的 API keys 页面创建。",
      setting: {
        auth: {
          label: "认证方式",
          help: "api_key：已保存的密钥。workload_identity：用网关所在机器的令牌文件换取短期令牌。默认：api_key。",
        },
        identity_file: {
          label: "身份令牌文件",
          help: "网关环境变量所允许的文件路径。",
        },
      },
    },
    "openai-compatible": {
      title: "OpenAI 兼容",
      baseUrl: "/chat/completions 之前的部分，通常以 /v1 结尾。如为内网地址，请允许内网地址。",
      apiKey: "服务器要求的密钥（如有），以 Bearer 方式发送。",
    },
    anthropic: {
      baseUrl: "末尾有无 /v1 均可。",
      apiKey: "在 console.anthropic.com 的 API keys 页面创建。",
      setting: {
        auth: {
          label: "认证方式",
          help: "api_key：已保存的密钥。workload_identity：用网关所在机器的令牌文件换取短期令牌。默认：api_key。",
        },
        identity_file: {
          label: "身份令牌文件",
          help: "留空则使用 ANTHROPIC_IDENTITY_TOKEN_FILE。",
        },
      },
    },
    gemini: {
      apiKey: "在 aistudio.google.com 的 API keys 页面创建。",
    },
    "azure-openai": {
      baseUrl: "资源的终结点，例如 https://NAME.openai.azure.com。留空则按资源名称确定。",
      apiKey: "资源的密钥 1 或密钥 2，位于“密钥和终结点”。",
      setting: {
        auth: {
          label: "认证方式",
          help: "api_key：资源的密钥。其余方式使用 Microsoft Entra ID 的令牌：managed_identity 和 workload_identity 使用网关所在机器的身份，client_certificate 和 client_secret 使用应用注册。默认：api_key。",
        },
        identity_file: {
          label: "身份令牌文件",
          help: "留空则使用 AZURE_FEDERATED_TOKEN_FILE。",
        },
      },
    },
    bedrock: {
      baseUrl: "留空则由地域决定。使用 VPC 终端节点时填写其地址。",
      apiKey: "Bedrock API 密钥。留空则使用 Access Key 签名。",
      setting: {
        access_key_id: {
          label: "Access Key ID",
          help: "可调用模型的 IAM 用户或角色的 Access Key ID。使用 Bedrock API 密钥时可不填。须与 Secret Access Key 一起填写。",
        },
        auth: {
          label: "认证方式",
          help: "access_key：已保存的密钥。default：网关环境中的第一个凭证，顺序与 AWS SDK 相同。web_identity：令牌文件，例如 EKS 的服务账号。container：ECS 或 EKS Pod Identity。instance_role：EC2 实例的角色。roles_anywhere：证书。默认：access_key。",
        },
        identity_file: {
          label: "身份令牌文件",
          help: "留空则使用 AWS_WEB_IDENTITY_TOKEN_FILE。",
        },
      },
    },
    vertex: {
      baseUrl: "留空则由位置决定。",
      apiKey: "服务账号密钥或外部账号的完整 JSON 文本，或访问令牌。",
      setting: {
        auth: {
          label: "认证方式",
          help: "api_key：服务账号密钥、外部账号（工作负载身份联合）或访问令牌。metadata：机器、Pod 或 Cloud Run 服务的服务账号。默认：api_key。",
        },
      },
    },
    ark: {
      title: "火山方舟",
      apiKey: "在 console.volcengine.com/ark 的 API keys 页面创建。",
      setting: {
        access_key_id: {
          label: "Access Key ID",
          help: "用于素材库，素材库不接受 API 密钥。须与 Secret Access Key 一起填写。",
        },
        region: {
          label: "素材库地域",
        },
      },
    },
    byteplus: {
      apiKey: "在 console.byteplus.com/ark 的 API keys 页面创建。",
      setting: {
        access_key_id: {
          label: "Access Key ID",
          help: "用于素材库，素材库不接受 API 密钥。须与 Secret Access Key 一起填写。",
        },
        region: {
          label: "素材库地域",
        },
      },
    },
    deepseek: {
      apiKey: "在 platform.deepseek.com 的 API keys 页面创建。",
    },
    mistral: {
      apiKey: "在 console.mistral.ai 的 API keys 页面创建。",
    },
    xai: {
      apiKey: "在 console.x.ai 的 API keys 页面创建。",
    },
    groq: {
      apiKey: "在 console.groq.com 的 API keys 页面创建。",
    },
    together: {
      apiKey: "在 api.together.ai 的 Settings > API keys 页面创建。",
    },
    fireworks: {
      apiKey: "在 app.fireworks.ai 的 API keys 页面创建。",
    },
    openrouter: {
      apiKey: "在 openrouter.ai 的 Keys 页面创建。",
    },
    moonshot: {
      title: "月之暗面（Kimi）",
      baseUrl: "中国区账号请填写：https://api.moonshot.cn/v1。",
      apiKey: "在 platform.moonshot.ai（中国区：platform.moonshot.cn）的 API keys 页面创建。",
    },
    zhipu: {
      title: "智谱（Z.ai）",
      baseUrl:
        "中国区账号请填写：https://open.bigmodel.cn/api/paas/v4。编程套餐请填写：https://api.z.ai/api/coding/paas/v4。",
      apiKey: "在 z.ai（中国区：open.bigmodel.cn）的 API keys 页面创建。",
    },
    dashscope: {
      title: "阿里云百炼（通义千问）",
      baseUrl: "密钥只属于一个地域。中国以外：https://dashscope-intl.aliyuncs.com/compatible-mode/v1。",
      apiKey: "在百炼控制台的 API Key 页面创建。",
    },
    minimax: {
      baseUrl: "中国区账号请填写：https://api.minimaxi.com/v1。",
      apiKey: "在 platform.minimax.io（中国区：platform.minimaxi.com）的 API keys 页面创建。",
    },
    cohere: {
      apiKey: "在 dashboard.cohere.com 的 API keys 页面创建。",
    },
    jina: {
      apiKey: "在 jina.ai 的 API key and billing 页面创建。",
    },
    kling: {
      title: "可灵",
      baseUrl: "中国区账号请填写：https://api-beijing.klingai.com。",
      apiKey: "与 Access Key 对应的 Secret Key，或单独的 API 密钥。在 app.klingai.com 的 API keys 页面创建。",
    },
    vidu: {
      baseUrl: "中国区账号请填写：https://api.vidu.cn。",
      apiKey: "在 platform.vidu.com 的 API keys 页面创建。",
    },
    runway: {
      apiKey: "在 dev.runwayml.com 的 API keys 页面创建。",
    },
    fal: {
      apiKey: "在 fal.ai 的 Keys 页面创建。",
    },
    replicate: {
      apiKey: "在 replicate.com 的 API tokens 页面创建。",
    },
    ollama: {
      baseUrl: "你自己的服务器：请为此提供商允许内网地址。",
      apiKey: "仅当服务器前面的代理要求密钥时填写。",
    },
    vllm: {
      baseUrl: "服务器的监听地址，例如 http://10.0.0.7:8000。如为内网地址，请允许内网地址。",
      apiKey: "启动服务器时 --api-key 的值（如有）。",
    },
    demo: {
      title: "内置演示",
      baseUrl: "在网关进程内运行，数据不会外发。",
    },
  },
};
