import { credentials } from "../passed-suite.ts";
import { speechEndpoint } from "./endpoint.ts";

credentials(speechEndpoint);
