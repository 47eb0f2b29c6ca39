/** A small new-api installation: synthetic rows in its tables. */
export const tokens = {
  ci: "vQ3c1nKf0a9bX7yTz2LmR8sWd5eGh4JpUoIiNqBtCxYkZrAv",
  limited: "aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uVwXyZ0123456789Ab",
  disabled: "dddddddddddddddddddddddddddddddddddddddddddddddd",
  exhausted: "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee",
  expired: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
} as const;

/** `upstream`: base URL of the channels. */
export function newApiRows(upstream: string) {
  const token = { user_id: 2, status: 1, expired_time: -1, remain_quota: 0, used_quota: 0, unlimited_quota: 1 };
  return {
    users: [
      { id: 1, username: "root", role: 100, status: 1, email: "", group: "default", quota: 100_000_000, used_quota: 0 },
      {
        id: 2,
        username: "bo",
        role: 1,
        status: 1,
        email: "bo@example.com",
        group: "vip",
        quota: 4_500_000,
        used_quota: 500_000,
      },
    ],
    channels: [
      {
        ...{ id: 1, type: 1, name: "main", key: "sk-canary-one\nsk-canary-two", status: 1, priority: 5, weight: 3 },
        ...{
          base_url: upstream,
          models: "gpt-6.1-sol,per-call,gpt-6-luna",
          group: "default,vip",
          model_mapping: '{"gpt-6.1-sol":"sol"}',
        },
      },
      {
        ...{ id: 2, type: 14, name: "claude", key: "sk-ant-canary", status: 1, priority: 0, weight: 0 },
        ...{ base_url: upstream, models: "claude-opus-5,gpt-6.1-sol", group: "vip", model_mapping: "" },
      },
      {
        id: 3,
        type: 33,
        name: "aws",
        key: "AKIACANARY|secret-canary|eu-west-1",
        status: 2,
        models: "nova",
        group: "vip",
      },
      {
        id: 4,
        type: 8,
        name: "own",
        key: "k-canary",
        base_url: `${upstream}/v1/chat/completions`,
        status: 1,
        models: "own",
        group: "vip",
      },
      { id: 5, type: 36, name: "songs", key: "canary", status: 1, models: "suno", group: "vip" },
    ],
    options: [
      { key: "ModelRatio", value: '{"gpt-6.1-sol":1,"own":0.5}' },
      { key: "CompletionRatio", value: '{"gpt-6.1-sol":5}' },
      { key: "CacheRatio", value: '{"gpt-6.1-sol":0.1}' },
      { key: "ModelPrice", value: '{"per-call":0.02}' },
      { key: "GroupRatio", value: '{"default":1,"vip":0.8}' },
    ],
    tokens: [
      { ...token, id: 1, key: tokens.ci, name: "ci", group: "" },
      {
        ...{ ...token, id: 2, key: tokens.limited, name: "limited", group: "default", unlimited_quota: 0 },
        ...{ remain_quota: 1_000_000, used_quota: 250_000, model_limits_enabled: 1, model_limits: "gpt-6.1-sol,own" },
        ...{ allow_ips: "127.0.0.1\n10.0.0.0/8\nnonsense" },
      },
      { ...token, id: 3, key: tokens.disabled, name: "off", status: 2 },
      { ...token, id: 4, key: tokens.exhausted, name: "spent", status: 4, unlimited_quota: 0, used_quota: 500_000 },
      { ...token, id: 5, key: tokens.expired, name: "old", status: 3, expired_time: 1_600_000_000 },
      { ...token, id: 6, key: "gone", name: "deleted", deleted_at: "2026-01-01 00:00:00" },
    ],
  };
}
