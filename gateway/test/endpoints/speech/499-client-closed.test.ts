import { leavers } from "../passed-suite.ts";
import { speechEndpoint } from "./endpoint.ts";

leavers(speechEndpoint);
