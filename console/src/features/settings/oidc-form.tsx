import { Alert, PasswordInput, Stack, Switch, TagsInput, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { useAct } from "../../api/use-act.ts";
import { CopyText } from "../../components/copy-button.tsx";
import { FormDrawer, wrongField } from "../../components/form-drawer.tsx";
import { useSession } from "../../session/session-context.tsx";
import {
  blockedBy,
  bodyOf,
  callbackUrl,
  domainsOf,
  draftOf,
  idProblem,
  type OidcAccount,
  type OidcDraft,
} from "./oidc-draft.ts";

interface OidcFormProps {
  /** null: a new one. */
  readonly account: OidcAccount | null;
  readonly taken: readonly OidcAccount[];
  readonly onClose: () => void;
}

/** What the issuer must be told comes first, what it tells us after. */
export function OidcForm({ account, taken, onClose }: OidcFormProps) {
  const { answer } = useSession();
  const [draft, setDraft] = useState<OidcDraft>(() => draftOf(account));
  const save = useAct("settings.putOidc", {
    inline: true,
    invalidates: ["settings.show", "session.show"],
    done: account === null ? "Account added. It stands on the sign-in page now." : "Account changed.",
    onDone: onClose,
  });
  const change = (changes: Partial<OidcDraft>) => setDraft((before) => ({ ...before, ...changes }));
  const wrong = (field: string) => wrongField(save.error, field);
  const callback = account?.callback_url ?? callbackUrl(answer.public_url, draft.id);
  const issuerChanged = account !== null && draft.issuer.trim() !== account.issuer;
  return (
    <FormDrawer
      opened
      title={account === null ? "Add single sign-on" : account.name}
      verb={account === null ? "Add account" : "Save account"}
      onClose={onClose}
      onSubmit={() => save.mutate({ params: { account: draft.id }, body: bodyOf(draft) })}
      saving={save.isPending}
      problem={save.error}
      blocked={blockedBy(draft, account, taken)}
    >
      <TextInput
        label="Name"
        description="On the button of the sign-in page: Continue with …"
        placeholder="Google"
        required
        withAsterisk={false}
        data-autofocus
        maxLength={256}
        error={wrong("name")}
        value={draft.name}
        onChange={(event) => change({ name: event.currentTarget.value })}
      />
      <TextInput
        label="Id"
        description="Part of the redirect URI. It stays as it is once the account is added."
        placeholder="google"
        required
        withAsterisk={false}
        spellCheck={false}
        autoCapitalize="off"
        maxLength={32}
        {...(account === null ? {} : { readOnly: true, variant: "filled" })}
        error={wrong("account") ?? (draft.id === "" ? null : idProblem(draft.id, account, taken))}
        value={draft.id}
        onChange={(event) => change({ id: event.currentTarget.value })}
      />
      <Alert variant="light" color="gray" title="Redirect URI" role="note">
        <Stack gap={4}>
          <Text fz="sm">Register Sluice as a web application with this redirect URI:</Text>
          {callback === null ? (
            <Text fz="sm" c="dimmed">
              Give an id first.
            </Text>
          ) : (
            <CopyText value={callback} label="Copy redirect URI" />
          )}
        </Stack>
      </Alert>
      <TextInput
        label="Issuer"
        description="Its address, as it calls itself. What stands under /.well-known/openid-configuration there tells us the rest."
        placeholder="https://accounts.google.com"
        type="url"
        required
        withAsterisk={false}
        spellCheck={false}
        maxLength={2_048}
        error={wrong("issuer")}
        value={draft.issuer}
        onChange={(event) => change({ issuer: event.currentTarget.value })}
      />
      <TextInput
        label="Client id"
        required
        withAsterisk={false}
        autoComplete="off"
        spellCheck={false}
        maxLength={512}
        error={wrong("client_id")}
        value={draft.clientId}
        onChange={(event) => change({ clientId: event.currentTarget.value })}
      />
      <PasswordInput
        label="Client secret"
        description={
          account === null
            ? "Kept sealed, and never shown again."
            : issuerChanged
              ? "The issuer changes, so its secret is needed again."
              : "One is stored. Leave this empty to keep it."
        }
        placeholder={account === null || issuerChanged ? undefined : "stored"}
        autoComplete="off"
        maxLength={2_048}
        error={wrong("client_secret")}
        value={draft.clientSecret}
        onChange={(event) => change({ clientSecret: event.currentTarget.value })}
      />
      <TagsInput
        label="Mail domains"
        description="It signs in people with an address there and nobody else, and who has no account here gets one, in no workspace yet. Empty: any address, but only people who connected it to their account."
        placeholder={draft.domains.length === 0 ? "example.com" : undefined}
        maxTags={100}
        acceptValueOnBlur
        splitChars={[",", " "]}
        error={wrong("allowed_domains")}
        value={[...draft.domains]}
        onChange={(typed) => change({ domains: domainsOf(typed) })}
      />
      <Switch
        label="It asks for a second factor itself"
        description="Then people who set up an authenticator app here are not asked for its code after signing in there."
        checked={draft.secondFactorTrusted}
        onChange={(event) => change({ secondFactorTrusted: event.currentTarget.checked })}
      />
    </FormDrawer>
  );
}
