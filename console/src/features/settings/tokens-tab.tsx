import { Anchor, Button, Group, Stack, Text } from "@mantine/core";
import type { AdminToken } from "@sluice/contract";
import { IconTerminal2 } from "@tabler/icons-react";
import { useState } from "react";
import { useAct } from "../../api/use-act.ts";
import { usePages } from "../../api/use-pages.ts";
import { CodeBlock } from "../../components/code-block.tsx";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { When } from "../../components/figures.tsx";
import { SecretOnce } from "../../components/secret-once.tsx";
import { Section } from "../../components/section.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { t } from "../../language/areas/settings.ts";
import { useUrlText } from "../../routes/search.ts";
import { useSession } from "../../session/session-context.tsx";
import { useWorkspace } from "../../session/workspace.ts";
import { type MadeToken, MakeToken } from "./make-token.tsx";
import { sampleCall } from "./sample-call.ts";

/** Admin tokens: the console's own API for scripts. */
export function TokensTab() {
  const { user, answer, may } = useSession();
  const [make, setMake] = useUrlText("make");
  const [made, setMade] = useState<MadeToken | null>(null);
  const tokens = usePages("tokens.list");
  const { slug } = useWorkspace();
  const mayMake = may("viewer");
  const button = mayMake && <Button onClick={() => setMake("token")}>{t("settings.makeToken")}</Button>;
  return (
    <Stack gap="lg">
      <Section
        flush
        title={t("settings.adminTokens")}
        description={user.administrator ? t("settings.forScriptsThatDoWhat") : t("settings.forScriptsThatDoWhat2")}
        actions={(tokens.rows?.length ?? 0) > 0 && button}
      >
        <DataTable
          label={t("settings.adminTokens")}
          columns={columns}
          rows={tokens}
          rowKey={(token) => token.id}
          dimmed={(token) => isOver(token)}
          empty={
            <EmptyState icon={<IconTerminal2 />} title={t("settings.noAdminTokensYet")} action={button}>
              {mayMake ? t("settings.withOneAScriptMakes") : t("settings.youBelongToNoWorkspace")}
            </EmptyState>
          }
        />
      </Section>
      <Section title={t("settings.howToCallIt")}>
        <Stack gap="sm">
          <CodeBlock code={sampleCall(answer.public_url, slug)} label={t("settings.sampleCall")} wrap />
          <Text fz="sm" c="dimmed">
            Every call is described in the{" "}
            <Anchor href="/docs" target="_blank" rel="noreferrer" fz="sm">
              {t("settings.apiReference")}
            </Anchor>
            ; as OpenAPI at{" "}
            <Anchor href="/openapi.json" target="_blank" rel="noreferrer" fz="sm">
              {t("settings.openapiJson")}
            </Anchor>
            .
          </Text>
        </Stack>
      </Section>
      {make === "token" && mayMake && (
        <MakeToken
          onClose={() => setMake("")}
          onMade={(token) => {
            setMake("");
            setMade(token);
          }}
        />
      )}
      <SecretOnce secret={made?.secret ?? null} title={`Token ${made?.token.name ?? ""}`} onClose={() => setMade(null)}>
        <CodeBlock
          code={sampleCall(answer.public_url, made?.token.workspace?.slug ?? null)}
          label={t("settings.sampleCall")}
          wrap
        />
      </SecretOnce>
    </Stack>
  );
}

function isOver(token: AdminToken): boolean {
  return token.expires_at !== null && token.expires_at <= Date.now();
}

const columns: readonly Column<AdminToken>[] = [
  {
    id: "name",
    header: t("settings.name"),
    cell: (token) => <Name token={token} />,
    sortBy: (token) => token.name.toLowerCase(),
  },
  { id: "may", header: t("settings.mayDo"), cell: (token) => <Grant token={token} /> },
  { id: "owner", header: t("settings.madeBy"), cell: (token) => <span className="break">{token.owner.email}</span> },
  {
    id: "made",
    header: t("settings.made"),
    cell: (token) => <When at={token.created_at} />,
    sortBy: (token) => token.created_at,
  },
  {
    id: "ends",
    header: t("settings.ends"),
    cell: (token) => <When at={token.expires_at} />,
    sortBy: (token) => token.expires_at,
  },
  {
    id: "used",
    header: t("settings.lastUsed"),
    cell: (token) => <When at={token.last_used_at} />,
    sortBy: (token) => token.last_used_at,
  },
  { id: "do", header: t("settings.actions"), quiet: true, align: "right", cell: (token) => <Revoke token={token} /> },
];

function Name({ token }: { readonly token: AdminToken }) {
  return (
    <div>
      <Group gap="xs">
        <span className="break">{token.name}</span>
        {isOver(token) && <StatusBadge status="expired" />}
      </Group>
      <Text fz="xs" c="dimmed" ff="monospace">
        {token.prefix}…
      </Text>
    </div>
  );
}

function Grant({ token }: { readonly token: AdminToken }) {
  if (token.administrator) return <StatusBadge status="administrator" tone="busy" label={t("settings.everything")} />;
  return <span>{t("settings.in", { role: token.role ?? "", slug: token.workspace?.slug ?? "" })}</span>;
}

function Revoke({ token }: { readonly token: AdminToken }) {
  const revoke = useAct("tokens.revoke", { invalidates: ["tokens.list"], done: t("settings.tokenRevoked") });
  return (
    <Group justify="flex-end">
      <ConfirmButton
        size="compact-xs"
        title={t("settings.revoke", { name: token.name })}
        verb={t("settings.revokeToken")}
        label={t("settings.revoke2")}
        onConfirm={() => revoke.mutateAsync({ params: { token: token.id } })}
      >
        {t("settings.scriptsThatUseItAre")}
      </ConfirmButton>
    </Group>
  );
}
