import { useEffect } from "react";
import { useAuthAct } from "../api/use-auth.ts";
import { type Language, language, showIn } from "../language/index.ts";

/** A user's language follows them to every browser; one chosen before sign-in applies until they choose another. */
export function useOwnLanguage(chosen: Language | null): void {
  useEffect(() => {
    if (chosen !== null && chosen !== language) showIn(chosen);
  }, [chosen]);
}

/** Stores the user's choice and switches the console. null: the browser's language. */
export function useChooseLanguage() {
  const { mutateAsync, isPending } = useAuthAct<{ language: Language | null }>("/update-user");
  const choose = async (chosen: Language | null) => {
    // The action shows the error; the page does not change.
    const stored = await mutateAsync({ language: chosen }).then(
      () => true,
      () => false,
    );
    if (stored) showIn(chosen);
  };
  return { choose, isPending };
}
