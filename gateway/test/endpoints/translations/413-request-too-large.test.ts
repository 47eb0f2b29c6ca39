import { tooLarge } from "../passed-suite.ts";
import { translationsEndpoint } from "./endpoint.ts";

tooLarge(translationsEndpoint);
