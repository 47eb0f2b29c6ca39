import { Alert, Radio, Stack, TagsInput } from "@mantine/core";
import { captures } from "@sluice/contract";
import { IconEye } from "@tabler/icons-react";
import type { Problem } from "../../client/problem.ts";
import { wrongField } from "../../components/form-drawer.tsx";
import { PassThroughField } from "../../components/pass-through-field.tsx";
import { ShadowGrant } from "../../components/shadow-switch.tsx";
import { t } from "../../language/areas/keys.ts";
import { useSession } from "../../session/session-context.tsx";
import { faultsOf, type KeyDraft } from "./key-draft.ts";

/** Declared here because these are some of the `KeyFields`. */
export interface KeyFieldsProps {
  /** A slug. */
  readonly workspace: string;
  readonly draft: KeyDraft;
  readonly onChange: (changes: Partial<KeyDraft>) => void;
  readonly problem: Problem | null;
  readonly disabled?: boolean;
  /** The form creates a key: some fields can only be set then. */
  readonly isNew?: boolean;
}

const captureWords = {
  none: { label: t("keys.capture.none"), description: t("keys.capture.noneHelp") },
  headers: { label: t("keys.capture.headers"), description: t("keys.capture.headersHelp") },
  bodies: { label: t("keys.capture.bodies"), description: t("keys.capture.bodiesHelp") },
} as const;

/** Rarely used fields: allowed IPs, tags, and what is captured of requests. */
export function KeyMoreFields({ workspace, draft, onChange, problem, disabled = false }: KeyFieldsProps) {
  const faults = faultsOf(draft);
  const mayCapture = useSession().may("admin", workspace);
  return (
    <Stack gap="md">
      <TagsInput
        label={t("keys.fields.ips")}
        description={t("keys.fields.ipsHelp")}
        placeholder={draft.allowedIps.length === 0 ? t("keys.fields.ipsPlaceholder") : ""}
        splitChars={[",", " ", "\n"]}
        acceptValueOnBlur
        clearable
        maxTags={1_000}
        disabled={disabled}
        value={[...draft.allowedIps]}
        onChange={(allowedIps) => onChange({ allowedIps })}
        error={faults.allowedIps ?? wrongField(problem, "allowed_ips")}
      />
      {draft.allowedIps.length > 0 && (
        <ShadowGrant
          enforced={draft.enforceAllowedIps}
          onChange={(enforceAllowedIps) => onChange({ enforceAllowedIps })}
          disabled={disabled}
          name={t("keys.fields.ips")}
        />
      )}
      <TagsInput
        label={t("keys.fields.tags")}
        description={t("keys.fields.tagsHelp")}
        placeholder={draft.tags.length === 0 ? t("keys.fields.tagsPlaceholder") : ""}
        splitChars={[",", "\n"]}
        acceptValueOnBlur
        clearable
        maxTags={16}
        disabled={disabled}
        value={[...draft.tags]}
        onChange={(tags) => onChange({ tags })}
        error={faults.tags ?? wrongField(problem, "tags")}
      />
      <PassThroughField
        value={draft.passThrough}
        onChange={(passThrough) => onChange({ passThrough })}
        disabled={disabled}
        error={wrongField(problem, "pass_through")}
      />
      <Radio.Group
        label={t("keys.capture.label")}
        description={mayCapture ? undefined : t("keys.capture.onlyAdmins")}
        value={draft.capture}
        onChange={(value) => onChange({ capture: captures.find((each) => each === value) ?? "none" })}
        error={wrongField(problem, "capture")}
      >
        <Stack gap="xs" mt={6}>
          {captures.map((value) => (
            <Radio key={value} value={value} disabled={disabled || !mayCapture} size="sm" {...captureWords[value]} />
          ))}
        </Stack>
      </Radio.Group>
      {draft.capture === "bodies" && (
        <Alert color="yellow" variant="light" icon={<IconEye size={16} />} title={t("keys.capture.warning")}>
          {t("keys.capture.warningHelp")}
        </Alert>
      )}
    </Stack>
  );
}
