import { Button, Group } from "@mantine/core";
import { IconLogin2 } from "@tabler/icons-react";
import { useAct } from "../../api/use-act.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { CopyText } from "../../components/copy-button.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { rowsOf } from "../../components/rows.ts";
import { Section } from "../../components/section.tsx";
import { t } from "../../language/areas/settings.ts";
import { useUrlText } from "../../routes/search.ts";
import type { OidcAccount } from "./oidc-draft.ts";
import { OidcForm } from "./oidc-form.tsx";

/** What stands in the address while a new account is being described; no account can have this id. */
const newAccount = "+";

/** Accounts at issuers of single sign-on. Which form is open stands in the address. */
export function OidcSection({ accounts }: { readonly accounts: readonly OidcAccount[] | null }) {
  const [open, setOpen] = useUrlText("account");
  const edited = accounts?.find((account) => account.id === open) ?? null;
  const add = <Button onClick={() => setOpen(newAccount)}>{t("settings.addAccount")}</Button>;
  return (
    <Section
      flush
      title={t("settings.singleSignOn")}
      description={t("settings.signInWithAnAccount")}
      actions={accounts !== null && accounts.length > 0 && add}
    >
      <DataTable
        label={t("settings.accountsOfSingleSignOn")}
        columns={columns}
        rows={rowsOf(accounts)}
        rowKey={(account) => account.id}
        rowLink={(account) => ({ to: "/settings", search: { tab: "sign-in", account: account.id } })}
        empty={
          <EmptyState icon={<IconLogin2 />} title={t("settings.noSingleSignOnYet")} action={add}>
            {t("settings.withItNobodyNeedsA")}
          </EmptyState>
        }
      />
      {accounts !== null && (open === newAccount || edited !== null) && (
        <OidcForm key={open} account={edited} taken={accounts} onClose={() => setOpen("")} />
      )}
    </Section>
  );
}

const columns: readonly Column<OidcAccount>[] = [
  { id: "name", header: t("settings.name"), cell: (account) => account.name },
  { id: "issuer", header: t("settings.issuer"), cell: (account) => <span className="break">{account.issuer}</span> },
  {
    id: "domains",
    header: t("settings.signsIn"),
    cell: (account) =>
      account.allowed_domains.length === 0 ? t("settings.whoConnectedIt") : account.allowed_domains.join(", "),
  },
  {
    id: "callback",
    header: t("settings.redirectUri"),
    cell: (account) => <CopyText value={account.callback_url} label={t("settings.copyRedirectUri")} />,
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
    done: `${account.name} removed.`,
  });
  return (
    <Group justify="flex-end" className="above-row">
      <ConfirmButton
        size="compact-xs"
        title={t("settings.remove", { name: account.name })}
        verb={t("settings.removeAccount")}
        label={t("settings.remove2")}
        typed={account.id}
        onConfirm={() => remove.mutateAsync({ params: { account: account.id } })}
      >
        {t("settings.nobodySignsInWithIt")}
      </ConfirmButton>
    </Group>
  );
}
