import { tooLarge } from "../passed-suite.ts";
import { moderationsEndpoint } from "./endpoint.ts";

tooLarge(moderationsEndpoint);
