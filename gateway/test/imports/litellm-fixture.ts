import { Database } from "bun:sqlite";

/**
 * A small LiteLLM installation: synthetic rows in its tables. LiteLLM 1.110.2 made the digests and encrypted values from the
 * secrets below, with this salt key.
 */
export const saltKey = "sk-salt-of-the-tests-0123";

export const secrets = {
  backend: "sk-litellm-search-backend-0001",
  app: "sk-litellm-search-app-0002",
  ads: "sk-litellm-ads-0003",
  personal: "sk-litellm-personal-0004",
  blocked: "sk-litellm-blocked-0005",
  expired: "sk-litellm-expired-0006",
  dashboard: "sk-litellm-dashboard-0007",
} as const;

/** What must never be printed: secrets of accounts, and the digests of keys. */
export const hidden = ["canary", "01f099c2c4df18957414c863036714eb"];

type Rows = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;

const emptyKey = { aliases: {}, config: {}, permissions: {}, model_spend: {}, model_max_budget: {}, metadata: {} };
const search = "7f3c1a00-0000-4000-8000-000000000001";
const ads = "7f3c1a00-0000-4000-8000-000000000002";

/** `upstream`: base URL of the provider of both models. */
export function liteLlmRows(upstream: string): Rows {
  return {
    BudgetTable: [
      { budget_id: "member", max_budget: 20, budget_duration: "7d", rpm_limit: 30 },
      { budget_id: "tier", max_budget: 5, budget_duration: "1d", tpm_limit: 100_000 },
      { budget_id: "org", max_budget: 1_000, budget_duration: "30d" },
    ],
    OrganizationTable: [{ organization_id: "o1", organization_alias: "Acme", budget_id: "org", models: [] }],
    UserTable: [
      { user_id: "u1", user_email: "Anna@example.com", user_alias: "Anna", user_role: "proxy_admin", models: [] },
      {
        user_id: "u2",
        user_email: "bo@example.com",
        user_role: "internal_user",
        max_budget: 10,
        budget_duration: "30d",
      },
      { user_id: "u3", user_email: null, user_role: "internal_user", models: [] },
    ],
    TeamTable: [
      {
        team_id: search,
        team_alias: "Search & Ranking",
        organization_id: "o1",
        members_with_roles: [
          { user_id: "u1", role: "admin" },
          { user_id: "u2", role: "user" },
        ],
        metadata: {},
        max_budget: 100,
        budget_duration: "30d",
        budget_reset_at: "2099-01-01 00:00:00",
        spend: 40,
        rpm_limit: 600,
        tpm_limit: 1_000_000,
        models: ["fast", "claude"],
        budget_limits: [
          {
            ...{ budget_duration: "1h", max_budget: 9, temp_budget_increase: 4 },
            temp_budget_expiry: "2099-01-01 00:00:00",
          },
        ],
        blocked: false,
      },
      {
        team_id: ads,
        team_alias: "广告",
        members_with_roles: [],
        metadata: {},
        max_budget: 50,
        budget_duration: "14d",
      },
    ],
    TeamMembership: [{ user_id: "u2", team_id: search, spend: 1.5, budget_id: "member" }],
    ModelTable: [{ id: 1, aliases: { smart: "claude" } }],
    VerificationToken: [
      {
        ...emptyKey,
        token: "01f099c2c4df18957414c863036714ebd7625b0ce4cd2309fcfab985b8bc0031",
        key_name: "sk-...0001",
        key_alias: "backend",
        team_id: search,
        user_id: "u2",
        models: ["gpt-6.1-sol"],
        metadata: { tags: ["env:prod", "beta"] },
        model_max_budget: { claude: { budget_limit: 2, time_period: "1d" } },
        max_budget: 12.5,
        budget_duration: "30d",
        budget_reset_at: "2099-01-01 00:00:00",
        spend: 2.25,
        rpm_limit: 60,
        max_parallel_requests: 7,
      },
      {
        ...emptyKey,
        token: "697a56f911e97949a7e01108499a257cfeec1981a92f9f6ce71a4ea0f354ca4c",
        key_name: "sk-...0002",
        key_alias: null,
        team_id: search,
        models: ["all-team-models"],
        budget_id: "tier",
        expires: "2099-01-01 00:00:00",
        allowed_routes: ["llm_api_routes"],
      },
      {
        ...emptyKey,
        token: "f349c1b52d8be2600c98bc74f62d69a0d623d7c3953482beda7598d24a80dc31",
        key_name: "sk-...0003",
        key_alias: "ads",
        team_id: ads,
        models: [],
        max_budget: 3,
        spend: 3,
      },
      {
        ...emptyKey,
        token: "8d9640419eac6089a98a4d8295de044c54687266958ebe0a87a369bccd2bf788",
        key_name: "sk-...0004",
        key_alias: "mine",
        user_id: "u2",
        models: [],
      },
      {
        ...emptyKey,
        token: "dc15165b53b44a6d94c9b56b829069a8762c3a9b04ddfdd9295ce10f1c6a5cc1",
        key_alias: "blocked",
        team_id: ads,
        models: [],
        blocked: true,
      },
      {
        ...emptyKey,
        token: "ef06918ee3aa9879efa16398311ac73a6f01391db7524fa9ea6f14c1547d25b1",
        key_alias: "expired",
        team_id: ads,
        models: [],
        expires: "2020-01-01 00:00:00",
      },
      {
        ...emptyKey,
        token: "389a1b5a619136cdb121d56a7037e1b75711dafe526307e46bd9a020571cbd34",
        key_alias: "session",
        team_id: "litellm-dashboard",
        models: [],
      },
    ],
    CredentialsTable: [
      {
        credential_id: "c1",
        credential_name: "anthropic-main",
        credential_values: {
          api_key: "Q438aUWIDNKVPysjNhqhFEDU99o4X60SQiWhvWB3kGnnR_8et0VdXyVOc7KswIoUGM2yfZ97FZXKPQ==",
        },
      },
    ],
    ProxyModelTable: [
      {
        model_id: "m1",
        model_name: "gpt-6.1-sol",
        litellm_params: {
          model: "wgLMBOSGJoXJ2DNKatInzSI1anr2lx3pnG5HDPTBZz07oqc6cO177SCx0h3K37IodIhXMdElICOBsQ==",
          api_key: "N-lDcKmifrDYiI93FvAlIjUhWCWKzkkEUEKunxRhs9Qu8ZbHpsNhrfje0KROHCbr1tg953uXbd4b2F_foQ==",
          api_base: `${upstream}/v1`,
          weight: 2,
        },
        model_info: { input_cost_per_token: 0.000_002, output_cost_per_token: 0.000_01, access_groups: ["fast"] },
        blocked: false,
      },
      {
        model_id: "m2",
        model_name: "claude",
        litellm_params: {
          model: "v2:gcm:8iO_ONmaE04NZ8hzNV4RNz7vUzLe2ro41MJwr6naB_AVcb5kp1lVHTJNEg1OQJB8BuxpiThcWg==",
          litellm_credential_name: "UklLzircmi2q8RE6O4RCS_fn9TLDE6iN9-nJQOExsOOOUMllR7g9Anod5MLaU2QM_P42SYLX",
          api_base: upstream,
        },
        model_info: { input_cost_per_token: 0.000_003, output_cost_per_token: 0.000_015 },
        blocked: false,
      },
    ],
    Config: [
      {
        param_name: "router_settings",
        param_value: { fallbacks: [{ "gpt-6.1-sol": ["claude"] }], model_group_alias: { sol: "gpt-6.1-sol" } },
      },
    ],
    TagTable: [{ tag_name: "env:prod", models: [], budget_id: "tier" }],
  };
}

/** Writes the rows to a new SQLite file. Objects and lists are JSON there. */
export function writeSqlite(path: string, rows: Rows, prefix = "LiteLLM_"): void {
  const file = new Database(path, { create: true });
  for (const [table, all] of Object.entries(rows)) {
    const columns = [...new Set(all.flatMap((row) => Object.keys(row)))];
    file.run(`create table "${prefix}${table}" (${columns.map((name) => `"${name}"`).join(", ")})`);
    const insert = file.query(`insert into "${prefix}${table}" values (${columns.map(() => "?").join(", ")})`);
    for (const row of all) insert.run(...columns.map((name) => plain(row[name])));
  }
  file.close();
}

function plain(value: unknown): string | number | null {
  if (value === undefined || value === null) return null;
  if (typeof value === "boolean") return Number(value);
  return typeof value === "object" ? JSON.stringify(value) : (value as string | number);
}
