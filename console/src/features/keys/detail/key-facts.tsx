import { Badge, Code, Group } from "@mantine/core";
import type { ConsoleKey } from "@sluice/contract";
import { Link } from "@tanstack/react-router";
import { CopyText } from "../../../components/copy-button.tsx";
import { type Fact, Facts } from "../../../components/facts.tsx";
import { When } from "../../../components/figures.tsx";
import { PatternsText } from "../../../components/patterns-text.tsx";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/keys.ts";
import { budgetWords, limitWords } from "../limit-words.ts";

const captureWords = {
  none: t("keys.nothing"),
  headers: t("keys.headers"),
  bodies: t("keys.headersAndBodies"),
} as const;

export function KeyFacts({ item }: { readonly item: ConsoleKey }) {
  return (
    <Section title={t("keys.whatItIs")}>
      <Facts facts={factsOf(item)} />
    </Section>
  );
}

function factsOf(key: ConsoleKey): readonly Fact[] {
  const tags = Object.entries(key.tags);
  const toWorkspace = {
    to: "/workspaces/$workspace",
    params: { workspace: key.workspace.slug },
    search: { workspace: key.workspace.slug },
  } as const;
  return [
    {
      name: "Secret",
      value: (
        <Code>
          {key.prefix}…{key.last_four}
        </Code>
      ),
    },
    ...oldSecret(key),
    {
      name: "Workspace",
      value: (
        <Link {...toWorkspace} className="text-link">
          {key.workspace.slug}
        </Link>
      ),
    },
    {
      name: "Group",
      value: (
        <Link {...toWorkspace} search={{ ...toWorkspace.search, tab: "groups" }} className="text-link">
          {key.group.name}
        </Link>
      ),
    },
    {
      name: "Models",
      value: key.models === null ? t("keys.allThatTheGroupMay") : <PatternsText patterns={key.models} />,
    },
    ...(key.pass_through.length === 0 ? [] : [{ name: "Pass-through", value: key.pass_through.join(", ") }]),
    { name: "Limits of its own", value: limitWords(key.limits) || t("keys.none") },
    { name: "Budget of its own", value: key.budget === null ? t("keys.none") : budgetWords(key.budget) },
    {
      name: "May be used from",
      value: key.allowed_ips === null ? t("keys.anywhere") : <PatternsText patterns={key.allowed_ips} shown={4} />,
    },
    { name: "Kept of its requests", value: captureWords[key.capture] },
    { name: "Expires", value: <When at={key.expires_at} /> },
    { name: "Last used", value: <When at={key.last_used_at} /> },
    {
      name: "Made",
      value: (
        <>
          <When at={key.created_at} />
          {key.created_by !== null && <> by {key.created_by.name || key.created_by.email}</>}
        </>
      ),
    },
    ...(key.revoked_at === null ? [] : [{ name: "Revoked", value: <When at={key.revoked_at} /> }]),
    ...boundsOfAdmins(key),
    ...(tags.length === 0 ? [] : [{ name: "Tags", value: <Tags tags={tags} /> }]),
    { name: "Id", value: <CopyText value={key.id} label={t("keys.copyTheId")} />, wide: true },
  ];
}

function oldSecret(key: ConsoleKey): readonly Fact[] {
  if (key.old_secret_until === null || key.old_secret_until <= Date.now()) return [];
  return [
    {
      name: "Old secret",
      value: (
        <>
          {t("keys.ends")} <When at={key.old_secret_until} />
        </>
      ),
    },
  ];
}

/** Of what is not said already by who may choose a group or what is captured. */
function boundsOfAdmins(key: ConsoleKey): readonly Fact[] {
  const named = key.set_by_admins.flatMap((name) => boundWords[name] ?? []);
  const bound = key.enabled ? named.filter((words) => words !== boundWords["enabled"]) : named;
  if (key.created_by === null || bound.length === 0) return [];
  return [{ name: "Only admins widen", value: bound.join(", ") }];
}

const boundWords: Readonly<Record<string, string>> = {
  enabled: "disabled",
  models: "models",
  allowed_ips: "addresses",
  expires_at: "expiry",
  limits: "limits",
  budget: "budget",
  tags: "tags",
};

function Tags({ tags }: { readonly tags: readonly (readonly [string, string])[] }) {
  return (
    <Group gap={4}>
      {tags.map(([name, value]) => (
        <Badge key={name} color="gray">
          {name}={value}
        </Badge>
      ))}
    </Group>
  );
}
