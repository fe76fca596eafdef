#include "core/plugin/schedule.h"

namespace vitrine {

ScheduleItem::~ScheduleItem() = default;

}  // namespace vitrine
