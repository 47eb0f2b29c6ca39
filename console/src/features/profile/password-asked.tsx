import { Button, Group, PasswordInput, Stack, Text } from "@mantine/core";
import { type FormEvent, type ReactNode, useState } from "react";
import type { Problem } from "../../client/problem.ts";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { t } from "../../language/areas/profile.ts";

interface PasswordAskedProps {
  /** What will happen. */
  readonly children: ReactNode;
  readonly verb: string;
  readonly doing: boolean;
  readonly problem: Problem | null;
  readonly onPassword: (password: string) => void;
}

/** The password once more, before the second factor is touched. */
export function PasswordAsked({ children, verb, doing, problem, onPassword }: PasswordAskedProps) {
  const [password, setPassword] = useState("");
  const wrong = problem?.param === "password" ? problem.message : null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onPassword(password);
    setPassword("");
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Text size="sm">{children}</Text>
        <PasswordInput
          label={t("profile.password")}
          autoComplete="current-password"
          required
          withAsterisk={false}
          data-autofocus
          maxLength={256}
          error={wrong}
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        {problem !== null && wrong === null && <ProblemAlert problem={problem} />}
        <Group justify="flex-end">
          <Button type="submit" size="sm" loading={doing}>
            {verb}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
