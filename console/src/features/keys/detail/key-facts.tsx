import { Badge, Button, Code, Group } from "@mantine/core";
import type { ConsoleKey } from "@sluice/contract";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { CopyText } from "../../../components/copy-button.tsx";
import { type Fact, Facts } from "../../../components/facts.tsx";
import { When } from "../../../components/figures.tsx";
import { Grant } from "../../../components/patterns-text.tsx";
import { Section } from "../../../components/section.tsx";
import { Rich, t } from "../../../language/areas/keys.ts";
import { PersonLink } from "../../people/person-link.tsx";
import { budgetWords, limitWords } from "../limit-words.ts";

const captureWords = {
  none: t("keys.capture.none"),
  headers: t("keys.capture.headers"),
  bodies: t("keys.capture.bodies"),
} as const;

/** Facts that differ from the defaults come first; the rest is collapsed. */
export function KeyFacts({ item }: { readonly item: ConsoleKey }) {
  const [whole, setWhole] = useState(false);
  const facts = [...firstFacts(item), ...settingFacts(item).filter((fact) => whole || fact.set), ...lastFacts(item)];
  const more = settingFacts(item).some((fact) => !fact.set);
  return (
    <Section
      title={t("keys.facts.title")}
      actions={
        more && (
          <Button variant="subtle" onClick={() => setWhole(!whole)}>
            {whole ? t("keys.facts.fewer") : t("keys.facts.more")}
          </Button>
        )
      }
    >
      <Facts facts={facts} />
    </Section>
  );
}

function firstFacts(key: ConsoleKey): readonly Fact[] {
  const toWorkspace = {
    to: "/workspaces/$workspace",
    params: { workspace: key.workspace.slug },
    search: { workspace: key.workspace.slug },
  } as const;
  return [
    {
      name: t("keys.facts.secret"),
      value: (
        <Code>
          {key.prefix}…{key.last_four}
        </Code>
      ),
    },
    ...oldSecret(key),
    ...(key.owner === null
      ? []
      : [{ name: t("keys.facts.owner"), value: <PersonLink person={key.owner} workspace={key.workspace.slug} /> }]),
    {
      name: t("keys.workspace"),
      value: (
        <Link {...toWorkspace} className="text-link">
          {key.workspace.slug}
        </Link>
      ),
    },
    {
      name: t("keys.group"),
      value: (
        <Link {...toWorkspace} search={{ ...toWorkspace.search, tab: "groups" }} className="text-link">
          {key.group.name}
        </Link>
      ),
    },
  ];
}

/** `set`: it differs from the default of a new key. */
function settingFacts(key: ConsoleKey): readonly (Fact & { readonly set: boolean })[] {
  const tags = Object.entries(key.tags);
  const limits = limitWords(key.limits);
  return [
    {
      name: t("keys.models.title"),
      value:
        key.models === null ? t("keys.models.asGroup") : <Grant patterns={key.models} enforced={key.enforce_models} />,
      set: key.models !== null,
    },
    { name: t("keys.facts.ownLimits"), value: limits || t("keys.none"), set: limits !== "" },
    {
      name: t("keys.facts.ownBudget"),
      value: key.budget === null ? t("keys.none") : budgetWords(key.budget),
      set: key.budget !== null,
    },
    {
      name: t("keys.facts.usedFrom"),
      value:
        key.allowed_ips === null ? (
          t("keys.facts.anywhere")
        ) : (
          <Grant patterns={key.allowed_ips} enforced={key.enforce_allowed_ips} shown={4} />
        ),
      set: key.allowed_ips !== null,
    },
    {
      name: t("keys.expires"),
      value: <When at={key.expires_at} missing={t("keys.never")} />,
      set: key.expires_at !== null,
    },
    { name: t("keys.facts.capture"), value: captureWords[key.capture], set: key.capture !== "none" },
    {
      name: t("keys.facts.passThrough"),
      value: key.pass_through.join(", ") || t("keys.none"),
      set: key.pass_through.length > 0,
    },
    {
      name: t("keys.facts.tags"),
      value: tags.length === 0 ? t("keys.none") : <Tags tags={tags} />,
      set: tags.length > 0,
    },
    ...boundsOfAdmins(key),
  ];
}

function lastFacts(key: ConsoleKey): readonly Fact[] {
  const maker = key.created_by;
  return [
    { name: t("keys.lastUsed"), value: <When at={key.last_used_at} missing={t("keys.neverUsed")} /> },
    {
      name: t("keys.facts.created"),
      value:
        maker === null ? (
          <When at={key.created_at} />
        ) : (
          <Rich
            text="keys.facts.createdBy"
            values={{
              name: (
                <PersonLink
                  person={maker}
                  workspace={key.workspace.slug}
                  text={maker.name || maker.email || maker.id}
                />
              ),
            }}
            tags={{ when: () => <When at={key.created_at} /> }}
          />
        ),
    },
    ...(key.revoked_at === null ? [] : [{ name: t("keys.facts.revoked"), value: <When at={key.revoked_at} /> }]),
    { name: t("keys.facts.id"), value: <CopyText value={key.id} label={t("keys.facts.copyId")} />, wide: true },
  ];
}

function oldSecret(key: ConsoleKey): readonly Fact[] {
  const until = key.old_secret_until;
  if (until === null || until <= Date.now()) return [];
  return [
    {
      name: t("keys.facts.oldSecret"),
      value: <Rich text="keys.facts.oldSecretEnds" tags={{ when: () => <When at={until} /> }} />,
    },
  ];
}

/** Fields that other parts of the page do not already mark as locked. */
function boundsOfAdmins(key: ConsoleKey): readonly (Fact & { readonly set: true })[] {
  const named = key.set_by_admins.flatMap((name) => boundWords[name] ?? []);
  const bound = key.enabled ? named.filter((words) => words !== boundWords["enabled"]) : named;
  if (key.created_by === null || bound.length === 0) return [];
  return [{ name: t("keys.facts.adminsWiden"), value: bound.join(", "), set: true }];
}

const boundWords: Readonly<Record<string, string>> = {
  enabled: t("keys.bound.enabled"),
  models: t("keys.bound.models"),
  allowed_ips: t("keys.bound.allowedIps"),
  expires_at: t("keys.bound.expiresAt"),
  limits: t("keys.bound.limits"),
  budget: t("keys.bound.budget"),
  tags: t("keys.bound.tags"),
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
