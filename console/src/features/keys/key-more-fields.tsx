import { Alert, Radio, Stack, TagsInput } from "@mantine/core";
import { captures } from "@sluice/contract";
import { IconEye } from "@tabler/icons-react";
import type { Problem } from "../../client/problem.ts";
import { wrongField } from "../../components/form-drawer.tsx";
import { PassThroughField } from "../../components/pass-through-field.tsx";
import { useSession } from "../../session/session-context.tsx";
import type { KeyDraft } from "./key-draft.ts";

/** What `KeyFields` is given stands here, for these are some of them. */
export interface KeyFieldsProps {
  /** A slug. */
  readonly workspace: string;
  readonly draft: KeyDraft;
  readonly onChange: (changes: Partial<KeyDraft>) => void;
  readonly problem: Problem | null;
  readonly disabled?: boolean;
}

const captureWords = {
  none: { label: "Nothing", description: "Figures only: tokens, cost, times, outcome." },
  headers: { label: "Headers", description: "Also what both sides sent as headers, without secrets." },
  bodies: { label: "Headers and bodies", description: "Also prompts and answers, word for word." },
} as const;

/** What few keys need: where they may be used from, words to find them by, what is kept of their requests. */
export function KeyMoreFields({ workspace, draft, onChange, problem, disabled = false }: KeyFieldsProps) {
  const mayCapture = useSession().may("admin", workspace);
  return (
    <Stack gap="md">
      <TagsInput
        label="Allowed addresses"
        description="IP addresses or ranges such as 10.0.0.0/8. Empty: from anywhere."
        placeholder={draft.allowedIps.length === 0 ? "from anywhere" : ""}
        splitChars={[",", " ", "\n"]}
        acceptValueOnBlur
        clearable
        maxTags={1_000}
        disabled={disabled}
        value={[...draft.allowedIps]}
        onChange={(allowedIps) => onChange({ allowedIps })}
        error={wrongField(problem, "allowed_ips")}
      />
      <TagsInput
        label="Tags"
        description="name=value each, for instance team=payments. They stand on every ledger entry."
        placeholder={draft.tags.length === 0 ? "team=payments" : ""}
        splitChars={[",", "\n"]}
        acceptValueOnBlur
        clearable
        maxTags={16}
        disabled={disabled}
        value={[...draft.tags]}
        onChange={(tags) => onChange({ tags })}
        error={wrongField(problem, "tags") ?? looseTag(draft.tags)}
      />
      <PassThroughField
        value={draft.passThrough}
        onChange={(passThrough) => onChange({ passThrough })}
        disabled={disabled}
        error={wrongField(problem, "pass_through")}
      />
      <Radio.Group
        label="Kept of its requests"
        description={mayCapture ? undefined : "Only an admin of the workspace may change this."}
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
        <Alert color="yellow" variant="light" icon={<IconEye size={16} />} title="People will be able to read along">
          Everything that is asked and answered with this key is kept for a while, and admins of this workspace may read
          it. Tell those who use the key.
        </Alert>
      )}
    </Stack>
  );
}

function looseTag(tags: readonly string[]): string | null {
  const loose = tags.find((tag) => tag.indexOf("=") < 1);
  return loose === undefined ? null : `“${loose}” is not name=value.`;
}
