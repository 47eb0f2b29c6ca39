/**
 * A small Bifrost installation: synthetic configuration and rows. The encrypted value and the digest are made as Bifrost does from these
 * secrets and this passphrase.
 */
export const passphrase = "bifrost-passphrase-of-the-tests";

export const virtualKeys = {
  stored: "sk-bf-0f6a2c1e-0000-4000-8000-000000000001",
  file: "sk-bf-0f6a2c1e-0000-4000-8000-000000000002",
  off: "sk-bf-0f6a2c1e-0000-4000-8000-000000000003",
} as const;

export function bifrostConfig(upstream: string) {
  return {
    version: 2,
    encryption_key: "env.BIFROST_ENCRYPTION_KEY",
    providers: {
      openai: {
        keys: [{ name: "main", value: "env.BF_OPENAI", models: ["gpt-6.1-sol"], weight: 1 }],
        network_config: { base_url: upstream },
      },
      anthropic: {
        keys: [{ name: "claude", value: "sk-ant-canary", models: ["*"] }],
        network_config: { base_url: upstream },
      },
      cohere: { keys: [{ name: "all", value: "canary", models: ["*"] }] },
      nebula: { keys: [{ name: "x", value: "canary", models: ["x"] }] },
    },
    governance: {
      customers: [{ id: "c1", name: "Acme Corp" }],
      teams: [
        { id: "t1", name: "Search", customer_id: "c1" },
        { id: "t2", name: "Lone" },
      ],
      budgets: [
        {
          id: "b1",
          max_limit: 100,
          reset_duration: "1M",
          current_usage: 12,
          last_reset: "2099-01-01T00:00:00Z",
          customer_id: "c1",
        },
        { id: "b2", max_limit: 20, reset_duration: "1d", team_id: "t1", override_mode: "forever", override_amount: 5 },
        { id: "b3", max_limit: 3, reset_duration: "1Y", team_id: "t2" },
      ],
      rate_limits: [
        {
          id: "r1",
          request_max_limit: 60,
          request_reset_duration: "1m",
          token_max_limit: 9,
          token_reset_duration: "1h",
        },
      ],
      virtual_keys: [
        {
          ...{ id: "v1", name: "search", value: virtualKeys.file, is_active: true, team_id: "t1", rate_limit_id: "r1" },
          provider_configs: [
            { provider: "openai", allowed_models: ["*"] },
            { provider: "anthropic", allowed_models: ["claude-opus-5"] },
          ],
        },
        { id: "v2", name: "off", value: virtualKeys.off, is_active: false, customer_id: "c1", provider_configs: [] },
      ],
      routing_rules: [{ id: "x" }],
    },
  };
}

export function bifrostRows(upstream: string) {
  return {
    config_providers: [{ id: 1, name: "openai", network_config_json: JSON.stringify({ base_url: upstream }) }],
    config_keys: [
      {
        ...{ id: 1, name: "main", provider_id: 1, provider: "openai", models_json: '["gpt-6.1-sol"]', weight: 1 },
        value: "GlS6VKnCDnXgotSu7U0XsE5dKe1A1O1TVNPXNVg1CqtkPqFlgEjHGTGf/b4Lq6Ch0GLcjg==",
        encryption_status: "encrypted",
      },
    ],
    governance_virtual_keys: [
      {
        ...{ id: "v9", name: "ci", is_active: 1, encryption_status: "encrypted" },
        value: "O7Cx1qpj6DpDLzI8rPnC8i7sbK8eMgjSJF+JNuvCM2xvcFyuHUKq3W+Ew8O+sDDmTyu+zKF3h0LzXby6jbpJdwSVDyoTRA==",
        value_hash: "c4f5f013d2623cae344ae4313c1084ccd5c7fa1b7f3f3c76f7b60b590ac61412",
      },
    ],
    governance_virtual_key_provider_configs: [
      { id: 1, virtual_key_id: "v9", provider: "openai", allowed_models: '["*"]' },
      { id: 2, virtual_key_id: "v9", provider: "anthropic", allowed_models: '["claude-opus-5"]' },
    ],
    governance_budgets: [
      {
        id: "b9",
        max_limit: 2,
        reset_duration: "1d",
        current_usage: 0.5,
        last_reset: "2099-01-01 00:00:00",
        virtual_key_id: "v9",
      },
    ],
  };
}
