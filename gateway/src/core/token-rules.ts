/** A credential that begins with fixed characters. Guardrails find its exact format; redaction masks all words with the same start. */
export interface TokenRule {
  readonly type: string;
  readonly starts: readonly string[];
  /** Sticky. Matches at most `lengthMax` characters, and looks only one character further. */
  readonly shape: RegExp;
  /** Characters that may continue the token. */
  readonly chars: "word" | "dotted" | "path";
  readonly lengthMax: number;
  /** Variable formats: a value without any digit is ordinary text. */
  readonly needsDigit: boolean;
}

/** The first rule that matches is used. A shape ends with a limited repeat: the rest of a longer word is not part of the credential. */
export const tokenRules: readonly TokenRule[] = [
  word("sluice_key", ["sk-sluice-"], "[A-Za-z0-9]{32,64}", true),
  word("anthropic_key", ["sk-ant-"], "[\\w-]{20,200}", true),
  word("openrouter_key", ["sk-or-"], "[\\w-]{20,200}", true),
  word("openai_key", ["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-"], "[\\w-]{20,200}", true),
  word("stripe_key", ["sk_live_", "rk_live_", "sk_test_", "rk_test_", "whsec_"], "[A-Za-z0-9]{16,250}"),
  word("aws_access_key", ["AKIA", "ASIA", "ABIA"], "[A-Z2-7]{16}(?![A-Za-z0-9_])"),
  word("google_api_key", ["AIza"], "[\\w-]{35}(?![\\w-])"),
  dotted("google_api_key", ["AQ.Ab"], "[\\w-]{30,200}", true),
  dotted("google_oauth_token", ["ya29."], "[\\w-]{20,500}"),
  word("google_oauth_token", ["GOCSPX-"], "[\\w-]{20,60}", true),
  dotted("github_token", ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], "[A-Za-z0-9_]{36,255}"),
  word("github_token", ["github_pat_"], "[A-Za-z0-9_]{36,255}"),
  dotted(
    "gitlab_token",
    ["glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-", "glagent-", "gloas-", "glimt-"],
    "[\\w-]{20,300}(?:\\.\\w{2,20}){0,3}",
  ),
  dotted(
    "slack_token",
    ["xoxb-", "xoxp-", "xoxa-", "xoxo-", "xoxr-", "xoxs-", "xoxe-", "xoxe.", "xapp-"],
    "[\\w.-]{10,300}",
    true,
  ),
  path("slack_webhook", ["hooks.slack.com/"], "(?:services|workflows|triggers)/[\\w/-]{20,120}"),
  path("discord_webhook", ["discord.com/api/webhooks/"], "\\d{15,22}/[\\w-]{50,100}"),
  word("npm_token", ["npm_"], "[A-Za-z0-9]{36}(?![A-Za-z0-9_])"),
  word("pypi_token", ["pypi-"], "[\\w-]{50,300}", true),
  word("huggingface_token", ["hf_", "api_org_"], "[A-Za-z0-9]{30,60}"),
  word("xai_key", ["xai-"], "[A-Za-z0-9]{40,120}", true),
  word("groq_key", ["gsk_"], "[A-Za-z0-9]{40,80}", true),
  word("perplexity_key", ["pplx-"], "[A-Za-z0-9]{32,80}", true),
  word("replicate_token", ["r8_"], "[A-Za-z0-9]{32,60}", true),
  word("nvidia_key", ["nvapi-"], "[\\w-]{40,120}", true),
  word("cerebras_key", ["csk-"], "[A-Za-z0-9]{32,80}", true),
  word("jina_key", ["jina_"], "[A-Za-z0-9]{32,100}", true),
  word("fireworks_key", ["fw_"], "[A-Za-z0-9]{22,60}", true),
  dotted("sendgrid_key", ["SG."], "[\\w-]{16,32}\\.[\\w-]{32,64}"),
  word("twilio_key", ["SK"], "[0-9a-f]{32}(?![A-Za-z0-9_])", true),
  word("notion_token", ["ntn_", "secret_"], "[A-Za-z0-9]{40,60}", true),
  word("onepassword_token", ["ops_eyJ"], "[\\w-]{80,3000}", false, 3_100),
  word("onepassword_key", ["A3-"], "[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}"),
  word("shopify_token", ["shpat_", "shpca_", "shppa_", "shpss_"], "[0-9A-Fa-f]{32}"),
  word("docker_token", ["dckr_pat_", "dckr_oat_"], "[\\w-]{20,100}"),
  word("linear_key", ["lin_api_", "lin_oauth_"], "[A-Za-z0-9]{32,100}", true),
  word("databricks_token", ["dapi"], "[0-9a-f]{32}(?:-\\d)?(?![A-Za-z0-9_])"),
  word("figma_token", ["figd_", "figo_", "figr_"], "[\\w-]{30,100}", true),
  dotted("vault_token", ["hvs.", "hvb.", "hvr."], "[\\w-]{20,500}"),
  word("grafana_token", ["glsa_"], "[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}"),
  path("grafana_token", ["glc_"], "[A-Za-z0-9+/]{32,400}={0,2}", true),
  word("digitalocean_token", ["dop_v1_", "doo_v1_"], "[0-9a-f]{64}"),
  word("age_key", ["AGE-SECRET-KEY-1"], "[A-Z0-9]{58}"),
  {
    type: "jwt",
    starts: ["eyJ"],
    shape: /eyJ[\w-]{8,4000}\.[\w-]{8,12000}\.[\w-]{0,700}/y,
    chars: "dotted",
    lengthMax: 16_710,
    needsDigit: false,
  },
];

function word(type: string, starts: readonly string[], body: string, needsDigit = false, lengthMax = 512): TokenRule {
  return { type, starts, shape: shapeOf(starts, body), chars: "word", lengthMax, needsDigit };
}

function dotted(type: string, starts: readonly string[], body: string, needsDigit = false): TokenRule {
  return { type, starts, shape: shapeOf(starts, body), chars: "dotted", lengthMax: 600, needsDigit };
}

function path(type: string, starts: readonly string[], body: string, needsDigit = false): TokenRule {
  return { type, starts, shape: shapeOf(starts, body), chars: "path", lengthMax: 512, needsDigit };
}

function shapeOf(starts: readonly string[], body: string): RegExp {
  return new RegExp(`(?:${starts.map((start) => RegExp.escape(start)).join("|")})${body}`, "y");
}
