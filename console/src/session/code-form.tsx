import { Anchor, Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { FormProblem } from "../components/form-problem.tsx";
import { wrongField } from "../components/wrong-field.ts";
import { t } from "../language/areas/session.ts";
import { giveBackupCode, giveCode } from "./sign-in-calls.ts";
import { useDoing } from "./use-doing.ts";

interface CodeFormProps {
  readonly onDone: () => void;
  readonly onBack: () => void;
}

/** The second factor: six digits of an authenticator app, or one of the backup codes. */
export function CodeForm({ onDone, onBack }: CodeFormProps) {
  const [backup, setBackup] = useState(false);
  const [code, setCode] = useState("");
  const { run, doing, problem, forget } = useDoing();
  // An error without a field means that this sign-in has ended, so another code cannot help.
  const over = problem?.code === "sign_in_refused" && problem.param === null;
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (doing) return;
    const trimmed = code.trim();
    if (await run(() => (backup ? giveBackupCode(trimmed) : giveCode(trimmed)))) onDone();
    // Keeps text that was typed meanwhile.
    else setCode((now) => (now === code ? "" : now));
  };
  const other = () => {
    setBackup((before) => !before);
    setCode("");
    forget();
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Text size="sm">{backup ? t("session.code.backupHelp") : t("session.code.help")}</Text>
        <TextInput
          key={backup ? "backup" : "code"}
          label={backup ? t("session.code.backup") : t("session.code.label")}
          autoComplete={backup ? "off" : "one-time-code"}
          inputMode={backup ? "text" : "numeric"}
          spellCheck={false}
          autoFocus
          required
          withAsterisk={false}
          maxLength={32}
          error={wrongField(problem, "code")}
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
        />
        <FormProblem problem={problem} />
        {over ? (
          <Button size="sm" onClick={onBack}>
            {t("session.code.restart")}
          </Button>
        ) : (
          <Button type="submit" size="sm" loading={doing}>
            {t("session.signIn")}
          </Button>
        )}
        <Group justify="space-between">
          <Anchor component="button" type="button" size="sm" onClick={other}>
            {backup ? t("session.code.useApp") : t("session.code.useBackup")}
          </Anchor>
          <Anchor component="button" type="button" size="sm" onClick={onBack}>
            {t("session.code.restart")}
          </Anchor>
        </Group>
      </Stack>
    </form>
  );
}
