package event

import (
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/scope"
)

// memberFields say which place it is, and who changed it.
const memberFields = "membershipId personId portalId unitId memberRole changedBy"

// unitFields say which unit it is, and who changed it.
const unitFields = "unitId portalId parentUnitId kind name changedBy"

// The values that fields of several types hold.
var (
	memberRoles = words("learner manager reviewer teacher staff admin")
	unitKinds   = words("class team group department site")
)

// peopleKinds are about places and units.
var peopleKinds = []*Kind{
	{
		Type: MemberAdded, Since: contract.V20260708, Scope: scope.PeopleRead,
		Description: "A person was given a place on a portal.",
		Fields:      Fields{Structure: words(memberFields + " externalId addedAt")},
		values:      fieldValues{"memberRole": memberRoles},
	},
	{
		Type: MemberRemoved, Since: contract.V20260708, Scope: scope.PeopleRead,
		Description: "A person's place was removed. Sent at most once per membership.",
		Fields:      Fields{Structure: words(memberFields + " removedAt")},
		values:      fieldValues{"memberRole": memberRoles},
	},
	{
		Type: MemberUpdated, Since: contract.V20260708, Scope: scope.PeopleRead,
		Description: "A person's place changed: its role, unit or dates.",
		Fields:      Fields{Structure: words(memberFields + " changedFields[] updatedAt")},
		values:      fieldValues{"memberRole": memberRoles},
	},
	{
		Type: MemberDisabled, Since: contract.V20260708, Scope: scope.PeopleRead,
		Description: "A person's place was switched off, by itself or with its unit.",
		Fields:      Fields{Structure: words(memberFields + " disabledAt")},
		values:      fieldValues{"memberRole": memberRoles},
	},
	{
		Type: MemberEnabled, Since: contract.V20260708, Scope: scope.PeopleRead,
		Description: "A person's place was switched on again.",
		Fields:      Fields{Structure: words(memberFields + " enabledAt")},
		values:      fieldValues{"memberRole": memberRoles},
	},
	{
		Type: UnitCreated, Since: contract.V20260708, Scope: scope.PeopleRead,
		Description: "A class, team or group was added. Sent at most once per unit.",
		Fields:      Fields{Structure: words(unitFields + " externalId createdAt")},
		values:      fieldValues{"kind": unitKinds},
	},
	{
		Type: UnitUpdated, Since: contract.V20260708, Scope: scope.PeopleRead,
		Description: "A unit was moved or changed, other than its name.",
		Fields:      Fields{Structure: words(unitFields + " changedFields[] updatedAt")},
		values:      fieldValues{"kind": unitKinds},
	},
	{
		Type: UnitRenamed, Since: contract.V20260708, Scope: scope.PeopleRead,
		Description: "A unit was renamed.",
		Fields:      Fields{Structure: words(unitFields + " previousName renamedAt")},
		values:      fieldValues{"kind": unitKinds},
	},
	{
		Type: UnitDisabled, Since: contract.V20260708, Scope: scope.PeopleRead,
		Description: "A unit was switched off.",
		Fields:      Fields{Structure: words(unitFields + " disabledAt")},
		values:      fieldValues{"kind": unitKinds},
	},
	{
		Type: UnitEnabled, Since: contract.V20260708, Scope: scope.PeopleRead,
		Description: "A unit was switched on again.",
		Fields:      Fields{Structure: words(unitFields + " enabledAt")},
		values:      fieldValues{"kind": unitKinds},
	},
	{
		Type: UnitDeleted, Since: contract.V20260708, Scope: scope.PeopleRead,
		Description: "A unit was removed. Sent at most once per unit.",
		Fields:      Fields{Structure: words(unitFields + " deletedAt")},
		values:      fieldValues{"kind": unitKinds},
	},
}
