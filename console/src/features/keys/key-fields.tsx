import { Accordion, Checkbox, Select, Stack, TextInput } from "@mantine/core";
import { useCall } from "../../api/use-call.ts";
import { BudgetForm } from "../../components/budget-form.tsx";
import { wrongField } from "../../components/form-drawer.tsx";
import { LimitsForm } from "../../components/limits-form.tsx";
import { t } from "../../language/areas/keys.ts";
import { useSession } from "../../session/session-context.tsx";
import { ExpiryInput, usualEnd } from "./expiry-input.tsx";
import { type KeyDraft, leastLimits } from "./key-draft.ts";
import { KeyModelsField } from "./key-models-field.tsx";
import { type KeyFieldsProps, KeyMoreFields } from "./key-more-fields.tsx";
import { KeyOwnerField } from "./key-owner-field.tsx";

const defaultGroup = "default";

/** All fields of a key; rarely used ones are collapsed. */
export function KeyFields({ workspace, draft, onChange, problem, disabled = false, isNew = false }: KeyFieldsProps) {
  const params = { workspace };
  const groups = useCall("groups.list", { params });
  const home = useCall("workspaces.show", { params });
  const { may, user } = useSession();
  const mayChooseGroup = may("admin", workspace);
  const all = groups.data?.data ?? [];
  const group = all.find((each) => each.id === draft.group) ?? all.find((each) => each.name === defaultGroup);
  const members = useCall("members.list", { params, enabled: draft.owner !== null });
  const owner = members.data?.data.find(({ id }) => id === draft.owner);
  const wider = leastLimits(home.data?.limits ?? {}, group?.limits ?? {});
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
      <Select
        label={t("keys.group")}
        description={mayChooseGroup ? t("keys.fields.groupHelp") : t("keys.fields.groupOnlyAdmins")}
        data={all.map((each) => ({ value: each.id, label: each.name }))}
        value={group?.id ?? null}
        onChange={(id) => onChange({ group: id ?? "" })}
        allowDeselect={false}
        searchable={all.length > 8}
        disabled={disabled || !mayChooseGroup || groups.data === undefined}
        error={wrongField(problem, "group") ?? groups.error?.message ?? null}
      />
      <KeyModelsField
        models={draft.models}
        onChange={(models) => onChange({ models })}
        disabled={disabled}
        error={wrongField(problem, "models")}
        workspace={home.data?.models ?? null}
        group={group?.models ?? null}
        hasBudget={[draft, owner, group, home.data].some((each) => each?.budget != null)}
      />
      <LimitsForm value={draft.limits} onChange={(limits) => onChange({ limits })} wider={wider} disabled={disabled} />
      <BudgetForm value={draft.budget} onChange={(budget) => onChange({ budget })} disabled={disabled} />
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
