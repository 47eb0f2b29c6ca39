import { Button, Group } from "@mantine/core";
import { IconLogin2 } from "@tabler/icons-react";
import { useAct } from "../../api/use-act.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { CopyText } from "../../components/copy-button.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { ManagedByFile } from "../../components/managed-by-file.tsx";
import { rowsOf } from "../../components/rows.ts";
import { Section } from "../../components/section.tsx";
import { t } from "../../language/areas/settings.ts";
import { useUrlText } from "../../routes/search.ts";
import type { OidcAccount } from "./oidc-draft.ts";
import { OidcForm } from "./oidc-form.tsx";

/** The URL value while a new account is added; no account can have this ID. */
const newAccount = "+";

/** Single sign-on accounts. The URL holds the open form. */
export function OidcSection({ accounts }: { readonly accounts: readonly OidcAccount[] | null }) {
  const [open, setOpen] = useUrlText("account");
  const edited = accounts?.find((account) => account.id === open) ?? null;
  const add = <Button onClick={() => setOpen(newAccount)}>{t("settings.oidc.add")}</Button>;
  return (
    <Section
      flush
      title={t("settings.oidc.title")}
      description={t("settings.oidc.help")}
      actions={accounts !== null && accounts.length > 0 && add}
    >
      <DataTable
        label={t("settings.oidc.list")}
        columns={columns}
        rows={rowsOf(accounts)}
        waitingRows={1}
        rowKey={(account) => account.id}
        rowLink={(account) => ({ to: "/settings", search: { tab: "sign-in", account: account.id } })}
        empty={
          <EmptyState icon={<IconLogin2 />} title={t("settings.oidc.none")} action={add}>
            {t("settings.oidc.noneHelp")}
          </EmptyState>
        }
      />
      {accounts !== null && (open === newAccount || edited !== null) && (
        <OidcForm key={open} account={edited} usedIds={accounts} onClose={() => setOpen("")} />
      )}
    </Section>
  );
}

const columns: readonly Column<OidcAccount>[] = [
  {
    id: "name",
    header: t("settings.name"),
    cell: (account) => (
      <Group gap="xs">
        {account.name}
        {account.suspended && <ManagedByFile by="suspended" />}
      </Group>
    ),
  },
  {
    id: "issuer",
    header: t("settings.oidc.issuer"),
    cell: (account) => <span className="break">{account.issuer}</span>,
  },
  {
    id: "domains",
    header: t("settings.oidc.who"),
    cell: (account) =>
      account.allowed_domains.length === 0 ? t("settings.oidc.connected") : account.allowed_domains.join(", "),
  },
  {
    id: "callback",
    header: t("settings.oidc.redirectUri"),
    cell: (account) => <CopyText value={account.callback_url} label={t("settings.oidc.copyRedirectUri")} />,
  },
  {
    id: "do",
    header: t("settings.actions"),
    quiet: true,
    align: "right",
    cell: (account) => <Remove account={account} />,
  },
];

function Remove({ account }: { readonly account: OidcAccount }) {
  const remove = useAct("settings.removeOidc", {
    invalidates: ["settings.show", "session.show"],
    done: t("settings.oidc.removed", { name: account.name }),
  });
  return (
    <Group justify="flex-end" className="above-row">
      <ConfirmButton
        size="compact-xs"
        title={t("settings.oidc.removeTitle", { name: account.name })}
        verb={t("settings.oidc.remove")}
        label={t("settings.remove")}
        typed={account.id}
        onConfirm={() => remove.mutateAsync({ params: { account: account.id } })}
      >
        {t("settings.oidc.removeHelp")}
      </ConfirmButton>
    </Group>
  );
}
