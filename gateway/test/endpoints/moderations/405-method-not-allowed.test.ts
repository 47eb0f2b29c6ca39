import { otherMethods } from "../forwarding-suite.ts";
import { moderationsEndpoint } from "./endpoint.ts";

otherMethods(moderationsEndpoint);
