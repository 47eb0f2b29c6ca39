import { Anchor, Button, Group, Stack, Text } from "@mantine/core";
import type { AdminToken } from "@sluice/contract";
import { IconTerminal2 } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { useAct } from "../../api/use-act.ts";
import { usePages } from "../../api/use-pages.ts";
import { CodeBlock } from "../../components/code-block.tsx";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { When } from "../../components/figures.tsx";
import { ManagedByFile } from "../../components/managed-by-file.tsx";
import { Section } from "../../components/section.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { t as scimWords } from "../../language/areas/scim.ts";
import { Rich, t } from "../../language/areas/settings.ts";
import { useUrlText } from "../../routes/search.ts";
import { useSession } from "../../session/session-context.tsx";
import { useWorkspace } from "../../session/workspace.ts";
import { CreateToken } from "./create-token.tsx";
import { NewToken } from "./new-token.tsx";
import { sampleCall } from "./sample-call.ts";

const pageRows = 50;

/** Admin tokens: the console's own API for scripts. */
export function TokensTab() {
  const { user, answer, may } = useSession();
  const [, setCreate] = useUrlText("create");
  const tokens = usePages("tokens.list");
  const { slug } = useWorkspace();
  const mayCreate = may("viewer");
  const button = mayCreate && <Button onClick={() => setCreate("token")}>{t("settings.token.create")}</Button>;
  return (
    <Stack gap="lg">
      <Section
        flush
        title={t("settings.tokens.title")}
        description={user.administrator ? t("settings.tokens.helpAll") : t("settings.tokens.help")}
        actions={tokens.rows?.length !== 0 && button}
      >
        <DataTable
          label={t("settings.tokens.title")}
          columns={columns}
          rows={tokens}
          pageSize={pageRows}
          rowKey={(token) => token.id}
          dimmed={(token) => isOver(token)}
          empty={
            <EmptyState icon={<IconTerminal2 />} title={t("settings.tokens.none")} action={button}>
              {mayCreate ? t("settings.tokens.noneHelp") : t("settings.tokens.noWorkspace")}
            </EmptyState>
          }
        />
      </Section>
      {!tokens.loading && (
        <Section title={t("settings.tokens.howTo")}>
          <Stack gap="sm">
            <CodeBlock code={sampleCall(answer.public_url, slug)} label={t("settings.tokens.sample")} wrap />
            <Text fz="sm" c="dimmed">
              <Rich
                text="settings.tokens.reference"
                tags={{
                  docs: (inside) => <OutLink href="/docs">{inside}</OutLink>,
                  openapi: (inside) => <OutLink href="/openapi.json">{inside}</OutLink>,
                }}
              />
            </Text>
          </Stack>
        </Section>
      )}
      <NewToken
        kind="token"
        form={(handlers) => mayCreate && <CreateToken {...handlers} />}
        title={(name) => t("settings.token.secret", { name })}
      >
        {(made) => (
          <CodeBlock
            code={sampleCall(answer.public_url, made?.token.workspace?.slug ?? null)}
            label={t("settings.tokens.sample")}
            wrap
          />
        )}
      </NewToken>
    </Stack>
  );
}

function OutLink({ href, children }: { readonly href: string; readonly children: ReactNode }) {
  return (
    <Anchor href={href} target="_blank" rel="noreferrer" fz="sm">
      {children}
    </Anchor>
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
  { id: "may", header: t("settings.tokens.grant"), cell: (token) => <Grant token={token} /> },
  {
    id: "owner",
    header: t("settings.tokens.owner"),
    cell: (token) => <span className="break">{token.owner.email}</span>,
  },
  {
    id: "made",
    header: t("settings.created"),
    cell: (token) => <When at={token.created_at} />,
    sortBy: (token) => token.created_at,
  },
  {
    id: "ends",
    header: t("settings.expires"),
    cell: (token) => <When at={token.expires_at} />,
    sortBy: (token) => token.expires_at,
  },
  {
    id: "used",
    header: t("settings.tokens.lastUsed"),
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
        {token.suspended && <ManagedByFile by="suspended" />}
      </Group>
      <Text fz="xs" c="dimmed" ff="monospace">
        {token.prefix}…
      </Text>
    </div>
  );
}

function Grant({ token }: { readonly token: AdminToken }) {
  if (token.administrator)
    return <StatusBadge status="administrator" tone="busy" label={t("settings.tokens.everything")} />;
  if (token.scim) return <span>{scimWords("scim.grant")}</span>;
  return <span>{t("settings.tokens.in", { role: token.role ?? "", slug: token.workspace?.slug ?? "" })}</span>;
}

function Revoke({ token }: { readonly token: AdminToken }) {
  const revoke = useAct("tokens.revoke", { invalidates: ["tokens.list"], done: t("settings.tokens.revoked") });
  return (
    <Group justify="flex-end">
      <ConfirmButton
        size="compact-xs"
        title={t("settings.tokens.revokeTitle", { name: token.name })}
        verb={t("settings.tokens.revokeVerb")}
        label={t("settings.tokens.revoke")}
        onConfirm={() => revoke.mutateAsync({ params: { token: token.id } })}
      >
        {t("settings.tokens.revokeHelp")}
      </ConfirmButton>
    </Group>
  );
}
