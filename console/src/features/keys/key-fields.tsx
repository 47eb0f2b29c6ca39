import { Accordion, Checkbox, Stack, TextInput } from "@mantine/core";
import { useCall } from "../../api/use-call.ts";
import { wrongField } from "../../components/form-drawer.tsx";
import { t } from "../../language/areas/keys.ts";
import { useSession } from "../../session/session-context.tsx";
import { ExpiryInput, usualEnd } from "./expiry-input.tsx";
import type { KeyDraft } from "./key-draft.ts";
import { type KeyFieldsProps, KeyMoreFields } from "./key-more-fields.tsx";
import { KeyOwnerField } from "./key-owner-field.tsx";
import { KeyScopeFields } from "./key-scope-fields.tsx";

/** All fields of a key; rarely used ones are collapsed. */
export function KeyFields({ workspace, draft, onChange, problem, disabled = false, isNew = false }: KeyFieldsProps) {
  const { may, user } = useSession();
  const mayChooseGroup = may("admin", workspace);
  const members = useCall("members.list", { params: { workspace }, enabled: draft.owner !== null });
  const owner = members.data?.data.find(({ id }) => id === draft.owner);
  return (
    <Stack gap="md">
      <TextInput
        label={t("keys.name")}
        description={t("keys.fields.nameHelp")}
        placeholder={t("keys.fields.namePlaceholder")}
        required
        data-autofocus
        maxLength={256}
        disabled={disabled}
        value={draft.name}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
        error={wrongField(problem, "name")}
      />
      {isNew && mayChooseGroup && (
        <Checkbox
          label={t("keys.service.make")}
          description={t("keys.service.help")}
          checked={draft.service}
          onChange={({ currentTarget: { checked: service } }) =>
            onChange(service ? { service, owner: null, expiresAt: draft.expiresAt ?? usualEnd() } : { service })
          }
        />
      )}
      {!isNew && draft.ownable && mayChooseGroup && (
        <KeyOwnerField
          workspace={workspace}
          value={draft.owner}
          onChange={(owner) => onChange({ owner })}
          disabled={disabled}
          error={wrongField(problem, "owner")}
        />
      )}
      {isNew && !draft.service && (
        <Checkbox
          label={t("keys.fields.personal")}
          description={t("keys.fields.personalHelp")}
          checked={draft.owner !== null}
          onChange={({ currentTarget: { checked } }) => onChange({ owner: checked ? user.id : null })}
          error={wrongField(problem, "owner")}
        />
      )}
      <KeyScopeFields
        workspace={workspace}
        draft={draft}
        onChange={onChange}
        problem={problem}
        disabled={disabled}
        mayChooseGroup={mayChooseGroup}
        hasOwnerBudget={owner?.budget != null}
      />
      <ExpiryInput
        value={draft.expiresAt}
        onChange={(expiresAt) => onChange({ expiresAt })}
        required={draft.service}
        disabled={disabled}
        error={wrongField(problem, "expires_at")}
      />
      <Accordion variant="separated" defaultValue={hasMore(draft) ? "more" : null}>
        <Accordion.Item value="more">
          <Accordion.Control>{t("keys.fields.more")}</Accordion.Control>
          <Accordion.Panel>
            <KeyMoreFields
              workspace={workspace}
              draft={draft}
              onChange={onChange}
              problem={problem}
              disabled={disabled}
            />
          </Accordion.Panel>
        </Accordion.Item>
      </Accordion>
    </Stack>
  );
}

function hasMore({ allowedIps, tags, capture, passThrough }: KeyDraft): boolean {
  return passThrough.length > 0 || allowedIps.length > 0 || tags.length > 0 || capture !== "none";
}
