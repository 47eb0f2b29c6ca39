import { Button, Group } from "@mantine/core";
import { IconLogin2 } from "@tabler/icons-react";
import { useAct } from "../../api/use-act.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { CopyText } from "../../components/copy-button.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { rowsOf } from "../../components/rows.ts";
import { Section } from "../../components/section.tsx";
import { useUrlText } from "../../routes/search.ts";
import type { OidcAccount } from "./oidc-draft.ts";
import { OidcForm } from "./oidc-form.tsx";

/** What stands in the address while a new account is being described; no account can have this id. */
const newAccount = "+";

/** Accounts at issuers of single sign-on. Which form is open stands in the address. */
export function OidcSection({ accounts }: { readonly accounts: readonly OidcAccount[] | null }) {
  const [open, setOpen] = useUrlText("account");
  const edited = accounts?.find((account) => account.id === open) ?? null;
  const add = <Button onClick={() => setOpen(newAccount)}>Add account</Button>;
  return (
    <Section
      flush
      title="Single sign-on"
      description="Sign in with an account elsewhere, by OpenID Connect: Google, Microsoft Entra, Okta, Keycloak …"
      actions={accounts !== null && accounts.length > 0 && add}
    >
      <DataTable
        label="Accounts of single sign-on"
        columns={columns}
        rows={rowsOf(accounts)}
        rowKey={(account) => account.id}
        rowLink={(account) => ({ to: "/settings", search: { tab: "sign-in", account: account.id } })}
        empty={
          <EmptyState icon={<IconLogin2 />} title="No single sign-on yet" action={add}>
            With it nobody needs a password here, and whoever leaves over there can no longer come in here.
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
  { id: "name", header: "Name", cell: (account) => account.name },
  { id: "issuer", header: "Issuer", cell: (account) => <span className="break">{account.issuer}</span> },
  {
    id: "domains",
    header: "Signs in",
    cell: (account) => (account.allowed_domains.length === 0 ? "who connected it" : account.allowed_domains.join(", ")),
  },
  {
    id: "callback",
    header: "Redirect URI",
    cell: (account) => <CopyText value={account.callback_url} label="Copy redirect URI" />,
  },
  { id: "do", header: "Actions", quiet: true, align: "right", cell: (account) => <Remove account={account} /> },
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
        title={`Remove ${account.name}?`}
        verb="Remove account"
        label="Remove"
        typed={account.id}
        onConfirm={() => remove.mutateAsync({ params: { account: account.id } })}
      >
        Nobody signs in with it any more. Whoever has no other way in needs a reset link from you, under Users. Sessions
        that are open stay open.
      </ConfirmButton>
    </Group>
  );
}
